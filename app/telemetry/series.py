"""Time series of the last minutes in fixed memory: a ring of samples per figure, all with the same time axis. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Series:
    """Samples of several named figures at common times; the oldest leave when it is full.

    Values may be NaN ("nothing to measure in this moment"); plots show a gap there.
    """

    def __init__(self, names: Iterable[str], capacity: int) -> None:
        self.names = tuple(names)
        self._capacity = capacity
        # two copies side by side: the current window is always one contiguous slice, so reading copies nothing
        self._times = np.zeros(2 * capacity)
        self._values = np.zeros((len(self.names), 2 * capacity))
        self._next = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, time_s: float, values: Mapping[str, float]) -> None:
        """Append one sample; figures that are not named become NaN."""
        row = [values.get(name, np.nan) for name in self.names]
        for at in (self._next, self._next + self._capacity):
            self._times[at] = time_s
            self._values[:, at] = row
        self._next = (self._next + 1) % self._capacity
        self._count = min(self._count + 1, self._capacity)

    @property
    def capacity(self) -> int:
        """Samples it holds when it is full."""
        return self._capacity

    def repeat(self, times: int, step_s: float) -> None:
        """Append the latest sample `times` more, its time `step_s` later each; nothing where there is none."""
        if self._count:
            end = self._next + self._capacity - 1
            last = {name: float(self._values[row, end]) for row, name in enumerate(self.names)}
            start = float(self._times[end])
            for number in range(1, times + 1):
                self.add(start + number * step_s, last)

    def times(self) -> Array:
        """Times of the samples held, oldest first; a view, valid until the next add."""
        return self._times[self._window()]

    def values(self, name: str) -> Array:
        """Samples of one figure, oldest first; a view, valid until the next add. Raises ValueError if unknown."""
        return self._values[self.names.index(name), self._window()]

    def clear(self) -> None:
        """Forget everything."""
        self._next = self._count = 0

    def _window(self) -> slice:
        end = self._next + self._capacity
        return slice(end - self._count, end)
