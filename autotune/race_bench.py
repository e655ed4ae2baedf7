"""Runs a race on the bench: the runs it asks for, what they show, and what becomes of arms that fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autotune.arms import Answers, ArmRecord
from autotune.baseline import Baseline, TuningFailedError
from autotune.control import Control
from autotune.pace import CONFIRM_SHARE, Pace, run_limit
from autotune.race import Race, Turn
from autotune.replies import Run
from autotune.result import ArmState, Phase
from autotune.workbench import Bench, BenchCrashedError, BenchRefusedError, BenchTimeoutError
from engine.errors import GannetError


@dataclass
class RaceBench:
    """One race between `begin` and `until` (by the control's clock), in which arms have the `records` of their names.

    `restore` brings the bench back after a crash, `note` keeps what went wrong, `tell` says what is being measured.
    """

    bench: Bench
    control: Control
    baseline: Baseline
    race: Race
    tempo: Pace
    records: Mapping[str, ArmRecord]
    answers: Answers
    begin: float
    until: float
    restore: Callable[[], None]
    note: Callable[[str], None]
    tell: Callable[[Phase, float, str], None]

    def measure(self) -> None:
        """Halve the arms, then compare the last with the defaults until it is certain or the time is over."""
        race = self.race
        while turns := race.round():
            self._round(turns)
            for name in race.halve():
                if self.records[name].state is ArmState.RUNNING:
                    self.records[name].state = ArmState.DROPPED
        while len(race.running) > 1 and not race.decided():
            if not all(self._turn(turn) for turn in race.confirmation()):
                return

    def _round(self, turns: list[Turn]) -> None:
        """A round of halving; once its time is over, every arm still answers two prompts."""
        until = self.begin + (self.until - self.begin) * (1 - CONFIRM_SHARE)
        fewest = len(self.race.running) * min(2, self.baseline.prompts)
        for i, turn in enumerate(turns):
            if (self.control.clock() > until and i >= fewest) or not self._turn(turn):
                return

    def _turn(self, turn: Turn) -> bool:
        """One run. False when there is no time left for it."""
        if turn.arm not in self.race.running:
            return True
        tokens = self.tempo.confirm_tokens if turn.confirming else self.tempo.tokens
        if self.until - self.control.clock() < tokens * self.baseline.token_s + 0.5:
            return False
        arm = self.records[turn.arm]
        self._told(turn, arm)
        limit = min(run_limit(tokens, self.baseline.token_s), self.control.remaining())
        try:
            run = self.bench.run(self.baseline.settings(arm.changes), turn.prompt, tokens, limit, self.control)
        except (BenchCrashedError, BenchRefusedError) as error:
            if self.control.remaining() <= 0:
                return False
            self._failed(arm, error)
            return True
        self._note(turn, arm, run)
        if not run.seconds and not arm.default and self.control.remaining() > 0:
            self._out(arm, ArmState.DROPPED, f"not one token in {limit:.1f} s")
        return True

    def _told(self, turn: Turn, arm: ArmRecord) -> None:
        share = (self.control.clock() - self.begin) / max(self.until - self.begin, 1e-9)
        phase = Phase.CONFIRM if turn.confirming else Phase.MEASURE
        self.tell(phase, 0.25 + 0.6 * min(1.0, share), f"Measuring {arm.name}")
        if arm.state is ArmState.WAITING:
            arm.state = ArmState.RUNNING

    def _note(self, turn: Turn, arm: ArmRecord, run: Run) -> None:
        if arm.default:
            self.answers.learn(turn.prompt, run.tokens)
        arm.identical = self.answers.agree(turn.prompt, run.tokens) and arm.identical is not False
        if not arm.identical:
            self._out(arm, ArmState.WRONG, "it gave another answer than the settings before")
            return
        arm.add(run)
        if run.seconds:
            self.race.record(turn, run.seconds)
        for name in self.race.running:
            if name != self.race.default:
                self.records[name].ratio = self.race.interval(name)

    def _out(self, arm: ArmRecord, state: ArmState, why: str) -> None:
        arm.state, arm.error = state, why
        self.race.drop(arm.name)

    def _failed(self, arm: ArmRecord, error: GannetError) -> None:
        """Note it, and bring the bench back to where it was. Raises `TuningFailedError` if that is impossible.

        What may have nothing to do with the arm is forgiven once: a worker that did not answer (the computer slept, the
        drive hung), and a crash under the settings that just worked.
        """
        arm.failures += 1
        forgiven = arm.failures == 1 and (arm.default or isinstance(error, BenchTimeoutError))
        self.note(f"{arm.name}: {error}{'; it was tried again' if forgiven else ''}")
        if not forgiven:
            self._out(arm, ArmState.CRASHED, str(error))
            if arm.default:
                raise TuningFailedError(f"the settings themselves fail: {error}")
        try:
            self.restore()
        except BenchTimeoutError:
            raise
        except (BenchCrashedError, BenchRefusedError) as again:
            raise TuningFailedError(f"after {arm.name} failed ({error}) the model did not load: {again}") from again
