"""Cancelling and time limits, shared by every probe and by the tuner."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


class CancelledError(Exception):
    """Raised at the next check after the user asked to stop; never shown, the caller turns it into a result."""


def never() -> bool:
    """The answer to "was it cancelled?" of a caller that cannot cancel."""
    return False


@dataclass(frozen=True)
class Control:
    """What a measurement asks while it works: was it cancelled, and how long may it still take.

    `clock` counts seconds monotonically; tests give one of their own. `scale` shortens or lengthens every
    measuring time by one factor: a tuning uses less than a probe run of its own.
    """

    cancelled: Callable[[], bool] = never
    clock: Callable[[], float] = time.perf_counter
    deadline: float = float("inf")
    scale: float = 1.0
    report: Callable[[str, object], None] = field(default=lambda _kind, _value: None)

    def check(self) -> None:
        """Raise `CancelledError` if the user asked to stop."""
        if self.cancelled():
            raise CancelledError

    def remaining(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self.deadline - self.clock())

    def seconds(self, wanted: float) -> float:
        """How long to measure where `wanted` seconds would be good: scaled, and inside the deadline."""
        return min(wanted * self.scale, self.remaining())

    def within(self, seconds: float) -> Control:
        """The same control with a deadline at most `seconds` from now."""
        deadline = min(self.deadline, self.clock() + seconds)
        return Control(self.cancelled, self.clock, deadline, self.scale, self.report)
