"""Runs the comparison by whole turns on the bench: the prompt's length, the runs, what fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from autotune.arms import ArmRecord
from autotune.axes import Sight
from autotune.candidates import operating, reloaded
from autotune.control import Control
from autotune.result import ArmState
from autotune.turns import FEWEST_PAIRS, PROMPT_LENGTHS, TurnRace, TurnTime, longest_prompt
from autotune.workbench import Bench, BenchCrashedError, BenchRefusedError, BenchTimeoutError

ANSWER_TOKENS = 12
LOAD_SECONDS = 1.0
"""What is added to the time that the load took before: starting, the first touch of memory."""
SLOWEST = 3.0
"""A turn that takes so many times what it is expected to take is cut."""


@dataclass
class TurnBench:
    """One comparison. `settings` makes an arm's changes whole, `tell` says what is being measured.

    `sight` gives what candidates are chosen from, for a length of prompt. `arms` are the records, the base first;
    empty where nothing that needs a new load promises anything. `load_s`: seconds that a load takes.
    """

    bench: Bench
    path: Path
    control: Control
    settings: Callable[[Mapping[str, Any]], dict[str, Any]]
    sight: Callable[[int], Sight]
    tell: Callable[[str], None]
    arms: dict[str, ArmRecord] = field(default_factory=dict)
    tokens: tuple[int, ...] = ()
    length: int = 0
    expected_s: float = 0.0
    load_s: float = 0.0

    def plan(self, base: str, changes: Mapping[str, Any], seconds: float) -> bool:
        """Choose the prompt and the challenger for so many seconds; whether there is anything to measure."""
        self.arms = {}
        self.length, self.expected_s = self._affordable(changes, seconds)
        found = reloaded(self.sight(self.length), changes, limit=1) if self.length else ()
        if found:
            first = ArmRecord(f"{base} (whole turns)", dict(changes), True, None)
            others = [ArmRecord(c.name, {**changes, **c.changes}, False, None) for c in found]
            self.arms = {arm.name: arm for arm in (first, *others)}
        return bool(found)

    def _affordable(self, changes: Mapping[str, Any], seconds: float) -> tuple[int, float]:
        """Tokens of the longest prompt that can be measured, and the seconds of one turn with it."""
        sight = self.sight(0)
        at, base = operating(sight.base, changes, sight.automatic), sight.base
        answer = 2 * (ANSWER_TOKENS + 1) * sight.model.expect(at).seconds  # a cold cache answers more slowly
        room = base.context_length - ANSWER_TOKENS - 1

        def turn(tokens: int, ubatch: int) -> float:
            return LOAD_SECONDS + self.load_s + sight.model.prompt_seconds(tokens, ubatch, at) + answer

        pairs = {n: turn(n, base.ubatch) + turn(n, max(n, base.ubatch)) for n in PROMPT_LENGTHS if n <= room}
        length = longest_prompt(seconds, pairs, FEWEST_PAIRS)
        return length, turn(length, base.ubatch)

    def compare(self, until: float) -> ArmRecord | None:
        """Run pairs until it is decided or the next would end after `until`; the better arm, None for the base."""
        base, *others = self.arms
        race = TurnRace(base, others)
        rounds = 0
        while race.challengers and not race.decided() and self._pair(race, rounds, until):
            rounds += 1
        for arm in self.arms.values():
            if arm.state in {ArmState.RUNNING, ArmState.WAITING}:
                arm.state = ArmState.KEPT if arm.turns else ArmState.SKIPPED
        best = self.arms[race.winner()]
        if best.default:
            return None
        best.state = ArmState.CHOSEN
        return best

    def _pair(self, race: TurnRace, rounds: int, until: float) -> bool:
        """A turn of every arm; who goes first alternates. False when there is no time for the next."""
        order = [race.base, *race.challengers]
        for name in order if rounds % 2 == 0 else order[::-1]:
            left = until - self.control.clock()
            if left < self.expected_s:
                return False
            if name == race.base or name in race.challengers:
                self._turn(race, self.arms[name], min(SLOWEST * self.expected_s, left))
        return True

    def _turn(self, race: TurnRace, arm: ArmRecord, limit_s: float) -> None:
        arm.state = ArmState.RUNNING
        self.tell(f"Measuring a whole turn: {arm.name}")
        settings = self.settings(arm.changes)
        try:
            turned = self.bench.turn(self.path, settings, self.length, ANSWER_TOKENS, limit_s, self.control)
        except (BenchCrashedError, BenchRefusedError) as error:
            self._failed(race, arm, str(error), slow=isinstance(error, BenchTimeoutError))
            return
        if turned.prompt_tok_s <= 0 or not turned.seconds:
            self._failed(race, arm, f"no token of an answer in {limit_s:.1f} s", slow=True)
            return
        self.tokens = self.tokens or turned.tokens
        common = min(len(self.tokens), len(turned.tokens))
        arm.identical = self.tokens[:common] == turned.tokens[:common]
        if not arm.identical:
            self._failed(race, arm, "it gave another answer than the settings before", wrong=True)
            return
        arm.turns.append(turned)
        race.record(arm.name, TurnTime(turned.prompt_tok_s, turned.seconds))
        for name in race.challengers:
            self.arms[name].ratio = race.ratio(name)

    @staticmethod
    def _failed(race: TurnRace, arm: ArmRecord, why: str, *, slow: bool = False, wrong: bool = False) -> None:
        """A challenger is out; without the base there is nothing to compare with."""
        arm.state = ArmState.WRONG if wrong else ArmState.DROPPED if slow else ArmState.CRASHED
        arm.error = why
        for name in list(race.challengers) if arm.name == race.base else [arm.name]:
            race.drop(name)

    def sentence(self, arm: ArmRecord) -> str:
        """What the comparison found, to follow the reason."""
        base = next(iter(self.arms.values()))
        gain = fmean(t.prompt_tok_s for t in arm.turns) / fmean(t.prompt_tok_s for t in base.turns)
        ratio = arm.ratio
        assert ratio is not None  # a winner has one
        return (
            f"{arm.name[:1].upper()}{arm.name[1:]} makes a turn of a conversation {ratio.middle:.2f} times as fast "
            f"(at least {ratio.low:.2f} with 95 % confidence): prompts are computed {gain:.2f} times as fast."
        )
