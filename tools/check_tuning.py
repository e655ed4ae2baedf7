"""Checks a tuning: its chosen settings against those it began with, on prompts the tuner never saw.

    tools/memlimit 8G gannet tune MODEL --no-save --json > result.json
    tools/memlimit 8G python -m tools.check_tuning result.json [--seconds 200]

Prints one JSON object: the ratio of speeds (chosen over former) with its 95 % interval, what it says (`verdict`), every
single ratio, and whether the answers were the same. Where the tuning chose nothing there is nothing to measure, and it
says so; `--against-itself` compares the former settings with themselves, which shows how exact the check is.

How they are compared: settings of a loaded model take turns within the same answers (`autotune.alternation`). Another
cache size would have to fill first, so those answer whole texts in turn, and the second half of each counts. What
needs a new load (a prompt batch) is compared by whole turns of a conversation: load, a prompt of 256 tokens, an answer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from autotune.alternation import Block, Plan, Side, interval, plan, ratios
from autotune.control import Control
from autotune.replies import Run
from autotune.result import Interval, TuneResult
from autotune.turns import TurnTime
from autotune.workbench import ProcessBench
from engine.settings import live_settings

Settings = dict[str, Any]

NEVER_BELOW = 0.98
LIMIT_S = 300.0
"""Nothing that a sound machine does takes longer."""
TURN_TOKENS = 256
TURN_ANSWER = 16
TRIAL_TOKENS = 8
CACHE_TOKENS = 96
CONTEXT_LEFT = 64
"""Tokens of the context that prompts take at most."""
RESERVE = 0.9
"""Share of the time that is planned: the first tokens of an answer take longer than the others."""
TEXTS = (
    "Once upon a time a fox and a gannet",
    "The three laws of thermodynamics say",
    "SELECT name, price FROM fruit WHERE",
    "To repair a bicycle tyre you first",
    "Minutes of the meeting held on Monday",
    "The capital of Portugal is a city of",
)
ALTERNATING_TEXTS = 4


@dataclass
class Checked:
    """What was measured. `speeds`: tokens (or turns) a second of each run, by side; `answers` by text."""

    ratios: list[float] = field(default_factory=list)
    speeds: dict[Side, list[float]] = field(default_factory=lambda: {side: [] for side in Side})
    answers: dict[int, list[int]] = field(default_factory=dict)
    identical: bool = True

    def add(self, side: Side, speed: float) -> None:
        """Note a speed."""
        self.speeds[side].append(speed)

    def said(self, text: int, tokens: Sequence[int]) -> None:
        """Note an answer, and whether it is the one that was given before, as far as both go."""
        before = self.answers.setdefault(text, list(tokens))
        common = min(len(before), len(tokens))
        self.identical &= before[:common] == list(tokens[:common])


class Check:
    """One check of `base` against `tuned` on a loaded model, for about `seconds`."""

    def __init__(self, bench: ProcessBench, path: Path, base: Settings, tuned: Settings, seconds: float) -> None:
        self._bench, self._path = bench, path
        self._settings = {Side.BASE: base, Side.TUNED: tuned}
        self._control = Control()
        self._end = self._control.clock() + seconds

    def _left(self) -> float:
        return self._end - self._control.clock()

    def _prepare(self, texts: int) -> None:
        self._bench.load(self._path, self._settings[Side.TUNED], self._control)
        self._bench.prepare(self._settings[Side.TUNED], LIMIT_S, self._control, TEXTS[:texts])

    def _run(self, side: Side, text: int, tokens: int) -> Run:
        return self._bench.run(self._settings[side], text, tokens, LIMIT_S, self._control)

    def _go_on(self, side: Side, tokens: int) -> Run:
        return self._bench.go_on(self._settings[side], tokens, LIMIT_S, self._control)

    def by_alternating(self) -> Checked:
        """Both take turns within the same answers."""
        self._prepare(ALTERNATING_TEXTS)
        planned, found = self._plan(), Checked()
        measured: list[tuple[Block, float]] = []
        for answer in planned.answers():
            said: list[int] = []
            for block in answer:
                if self._left() < 0:
                    break
                run = self._block(block, planned.tokens)
                said += run.tokens
                token_s = fmean(run.seconds[planned.left_out - 1 :])
                measured.append((block, token_s))
                found.add(block.side, 1.0 / token_s)
            found.said(answer[0].text, said)
        found.ratios = ratios(measured)
        return found

    def _plan(self) -> Plan:
        """How long the answers can be. Raises SystemExit where there is no time for the shortest."""
        seconds = [*self._run(Side.TUNED, 0, TRIAL_TOKENS).seconds, *self._go_on(Side.BASE, TRIAL_TOKENS).seconds]
        room = int(self._settings[Side.BASE]["context_length"]) - CONTEXT_LEFT
        planned = plan(RESERVE * self._left(), fmean(seconds), ALTERNATING_TEXTS, room)
        if planned is None:
            raise SystemExit("check_tuning: not even two blocks of tokens fit into the time; give it more --seconds")
        return planned

    def _block(self, block: Block, tokens: int) -> Run:
        """Compute a block; a run's first token is not timed, so it is one of those left out."""
        return self._go_on(block.side, tokens - 1) if block.number else self._run(block.side, block.text, tokens - 1)

    def by_whole_texts(self) -> Checked:
        """Whole answers: base half of the texts, tuned all, base the others; after a switch one run does not count."""
        texts = len(TEXTS)
        self._prepare(texts)
        trial = fmean(self._run(Side.TUNED, 0, TRIAL_TOKENS).seconds)
        tokens = min(CACHE_TOKENS, max(2 * TRIAL_TOKENS, int(RESERVE * self._left() / trial / (2 * texts + 3))))
        half, found = texts // 2, Checked()
        seconds: dict[Side, dict[int, float]] = {side: {} for side in Side}
        for side, some in ((Side.BASE, range(half)), (Side.TUNED, range(texts)), (Side.BASE, range(half, texts))):
            self._run(side, (some[0] - 1) % texts, tokens)
            for text in some:
                run = self._run(side, text, tokens)
                seconds[side][text] = fmean(run.seconds[tokens // 2 :])
                found.add(side, 1.0 / seconds[side][text])
                found.said(text, run.tokens)
        found.ratios = [seconds[Side.BASE][text] / seconds[Side.TUNED][text] for text in range(texts)]
        return found

    def by_turns(self) -> Checked:
        """Whole turns of a conversation, A B B A, as many as there is time for, at least four."""
        found, longest, order = Checked(), 0.0, (Side.BASE, Side.TUNED)
        while len(found.ratios) < 2 or self._left() > longest:
            begin = self._control.clock()
            rates = {side: self._turn(side, found) for side in order}
            longest = max(longest, self._control.clock() - begin)
            found.ratios.append(rates[Side.TUNED] / rates[Side.BASE])
            order = order[::-1]
        return found

    def _turn(self, side: Side, found: Checked) -> float:
        """Usual turns a second."""
        settings = self._settings[side]
        turned = self._bench.turn(self._path, settings, TURN_TOKENS, TURN_ANSWER, LIMIT_S, self._control)
        rate = 1.0 / TurnTime(turned.prompt_tok_s, turned.seconds).seconds
        found.add(side, rate)
        found.said(0, turned.tokens)
        return rate


def verdict(found: Interval | None) -> str:
    """What an interval says of the promise never to be slower, in words."""
    if found is None:
        return "uncertain: too few comparisons for an interval"
    if found.low > 1.0:
        return "surely faster"
    if found.low >= NEVER_BELOW:
        return f"surely not below {NEVER_BELOW}"
    if found.high < NEVER_BELOW:
        return f"surely below {NEVER_BELOW}"
    return f"uncertain: the interval reaches below {NEVER_BELOW}; more --seconds make it narrower"


def main() -> None:
    """Run the check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("--seconds", type=float, default=200.0, help="how long it may take, about")
    parser.add_argument("--against-itself", action="store_true", help="the former settings against themselves")
    args = parser.parse_args()
    result = TuneResult.model_validate_json(args.result.read_text(encoding="utf-8"))
    changes = {} if args.against_itself else result.chosen
    if not changes and not args.against_itself:
        said = "the tuning chose the settings it began with: they are the same, so there is nothing to measure"
        print(json.dumps({"chosen": {}, "same_settings": True, "ratio": 1.0, "verdict": said}))
        return
    bench = ProcessBench()
    check = Check(bench, Path(result.model_path), result.base, result.base | changes, args.seconds)
    how: Callable[[], Checked] = check.by_alternating
    if not set(changes) <= live_settings():
        how = check.by_turns
    elif "cache_bytes" in changes:
        how = check.by_whole_texts
    try:
        found = how()
    finally:
        bench.close()
    print(json.dumps(report(changes, found), indent=1))


def report(changes: Settings, found: Checked) -> dict[str, Any]:
    """What is printed."""
    ratio = interval(found.ratios)
    return {
        "chosen": changes,
        "same_settings": not changes,
        "verdict": verdict(ratio),
        "ratio": None if ratio is None else {k: round(v, 4) for k, v in ratio.model_dump().items()},
        "identical": found.identical,
        "base_per_s": round(fmean(found.speeds[Side.BASE]), 3),
        "tuned_per_s": round(fmean(found.speeds[Side.TUNED]), 3),
        "ratios": [round(r, 3) for r in found.ratios],
    }


if __name__ == "__main__":
    main()
