"""Tells how far a tuning is: every message with its phase, its share of the whole, and the time that is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotune.result import Phase, TuneEvent

Report = Callable[[TuneEvent], None]
_UNDER_WAY = {Phase.PROBE, Phase.PLAN, Phase.MEASURE, Phase.CONFIRM}


class Progress:
    """One tuning of `budget_s` seconds that begins now, by `clock`; `report` hears of every step."""

    def __init__(self, report: Report, clock: Callable[[], float], budget_s: float) -> None:
        self._report, self._clock, self._budget_s = report, clock, budget_s
        self.begin = clock()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self.begin

    def tell(self, phase: Phase, fraction: float, message: str, **more: Any) -> None:
        """Report a step; `more` are further fields of `TuneEvent`."""
        elapsed = self.elapsed_s
        left = max(0.0, self._budget_s - elapsed) if phase in _UNDER_WAY else 0.0
        self._report(
            TuneEvent(phase=phase, fraction=fraction, message=message, elapsed_s=elapsed, remaining_s=left, **more)
        )
