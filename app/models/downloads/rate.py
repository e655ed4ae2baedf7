"""Rate and time left of a download, smoothed so that a person can read them. Pure."""

from __future__ import annotations

from collections import deque

WINDOW_S = 12.0


class Rate:
    """Bytes per second over the last seconds, from (time, bytes done) samples."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, now: float, done: int) -> None:
        """Record that `done` bytes were there at `now` (seconds, any steady clock). Going back starts anew."""
        if self._samples and done < self._samples[-1][1]:
            self._samples.clear()
        self._samples.append((now, done))
        while len(self._samples) > 2 and self._samples[0][0] < now - WINDOW_S:
            self._samples.popleft()

    @property
    def bytes_per_s(self) -> float:
        """0.0 until two samples at least half a second apart exist."""
        if len(self._samples) < 2:
            return 0.0
        (start, before), (end, done) = self._samples[0], self._samples[-1]
        return (done - before) / (end - start) if end - start >= 0.5 else 0.0

    def seconds_left(self, total: int) -> float | None:
        """Time to `total` at this rate; None while it is not known."""
        rate = self.bytes_per_s
        return (total - self._samples[-1][1]) / rate if rate > 0 else None
