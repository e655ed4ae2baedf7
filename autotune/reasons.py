"""Why a tuning ended as it did, in one sentence. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.arms import ArmRecord
from autotune.race import Verdict
from autotune.result import ArmState


def reason(verdict: Verdict, arms: Mapping[str, ArmRecord], default: str) -> str:
    """The sentence for the verdict."""
    best, ratio = verdict.best, verdict.ratio
    if verdict.because == "faster" and best is not None and ratio is not None:
        return (
            f"{_capital(best)} answers {ratio.middle:.2f} times as fast as the settings before "
            f"(at least {ratio.low:.2f} with 95 % confidence){_cause(arms[best], arms[default])}."
        )
    if verdict.because == "too few" and ratio is not None:
        pairs = "comparison" if ratio.count == 1 else "comparisons"
        return (
            f"The time was too short to be sure: {best} looked {ratio.middle:.2f} times as fast in "
            f"{ratio.count} {pairs}, so the settings stay as they were."
        )
    if best is not None and ratio is not None:
        return (
            f"Nothing was reliably faster: the best candidate, {best}, reached {ratio.middle:.2f} times the speed "
            f"({ratio.low:.2f} to {ratio.high:.2f}), so the settings stay as they were."
        )
    failed = [a.name for a in arms.values() if a.state in {ArmState.CRASHED, ArmState.WRONG} or a.error]
    if failed:
        return (
            f"No candidate finished ({'; '.join(failed)} failed or came to nothing), so the settings stay as they were."
        )
    return "There was nothing to compare, so the settings stay as they were."


def _cause(arm: ArmRecord, default: ArmRecord) -> str:
    """What the arm does better, from its counters; empty where they do not say."""
    ours, theirs, speeds = arm.stall_ms(), default.stall_ms(), arm.speeds()
    if ours is None or theirs is None or not speeds or not default.speeds():
        return ""
    gained_ms = 1e3 * (_mean_token(default) - _mean_token(arm))
    waits = theirs - ours
    if gained_ms > 0 and waits > 0.4 * gained_ms:
        return f", because it waits {waits:.0f} ms less per token for the drive"
    return ", because it spends less time on computing and waiting for threads"


def _mean_token(arm: ArmRecord) -> float:
    seconds = [s for run in arm.runs for s in run.seconds]
    return sum(seconds) / len(seconds)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
