"""How large the expert cache should be while other programs take memory and give it back. Pure: no clock, no I/O.

What the cache could have is what is free plus what it holds, less what the model will still touch (the work buffers of
a longer prompt than any so far) and less a reserve. Short of that it shrinks at once; above that it grows, but only by
what has been free all through a while, and half of it at a time. A neighbour that comes and goes then costs one
shrink each time it comes back later than that while, and the while doubles each time that happens.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

Reason = Literal["start", "asked for", "memory is short", "memory is free"]

_PATIENCE_SECONDS = 10.0
_MOST_PATIENCE_SECONDS = 160.0
_CALM = 6  # times the patience without a shrink, after which it halves again
_STEP_SECONDS = 1.0  # between two steps of growing
# A program that takes memory goes on taking it while we look and give back: what it took in this time it may take
# again, but no more than that much is given up on suspicion.
_LEAD_SECONDS = 0.25
_MOST_LEAD = 1 << 30
_TOLERANCE = 8  # differences below this part of the reserve are noise: reads in flight, counts kept per processor
_LEAST_TOLERANCE = 8 << 20
# Looking has a price, about 0.2 ms: less often while no program could take what is free before the next look.
_FASTEST_NEIGHBOUR = 8 << 30  # bytes a second that one program can touch
_OFTEN_SECONDS, _SELDOM_SECONDS = 0.05, 0.5


@dataclass(frozen=True, slots=True)
class MemorySample:
    """What was measured at one moment; times in seconds, sizes in bytes.

    Attributes:
        time_s: of a clock that only goes forward.
        available_bytes: what could be taken now, on the machine and within its limits.
        held_bytes: what the cache holds now.
        pending_bytes: what the model has not touched yet but will.
    """

    time_s: float
    available_bytes: int
    held_bytes: int
    pending_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CacheBounds:
    """Least and most that the cache may have, and what is left for others."""

    least_bytes: int
    most_bytes: int
    headroom_bytes: int


@dataclass(frozen=True, slots=True)
class Decision:
    """The size the cache should have, and why it was last changed."""

    cache_bytes: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class CacheState:
    """How the cache's size came about: the most it may be, how often it was changed, and why it is what it is."""

    most_bytes: int
    shrinks: int = 0
    grows: int = 0
    reason: Reason = "start"


class ElasticSize:
    """Follows samples in the order of their times and decides the cache's size after each."""

    def __init__(self, bounds: CacheBounds, cache_bytes: int) -> None:
        self.decision = Decision(cache_bytes, "start")
        self._bounds = bounds
        self._asked = False
        self._totals: deque[tuple[float, int]] = deque()  # of late, time and what there is for cache and reserve
        self._room: deque[tuple[float, int]] = deque()  # time and room, the latest and those lower than all after them
        self._since = 0.0  # room is known without a gap since then
        self._patience = _PATIENCE_SECONDS
        self._grown = self._shrunk = self._eased = float("-inf")

    @property
    def bounds(self) -> CacheBounds:
        """The bounds in force."""
        return self._bounds

    def ask(self, bounds: CacheBounds) -> None:
        """Change the bounds. The next decision takes what they allow at once, since somebody wants it so."""
        self._bounds = bounds
        self._asked = True

    def decide(self, sample: MemorySample) -> Decision:
        """The size after this sample."""
        total = sample.available_bytes + sample.held_bytes - sample.pending_bytes
        room = self._within(total - max(self._bounds.headroom_bytes, self._lead(sample.time_s, total)))
        self._remember(sample.time_s, room)
        if self._asked:
            self._asked = False
            self._set(room, "asked for")
        elif room < self.decision.cache_bytes - self._tolerance:
            self._shrink(sample.time_s, room)
        else:
            self._maybe_grow(sample.time_s)
        return self.decision

    def next_look_s(self, sample: MemorySample) -> float:
        """Seconds until the next sample should be taken: in time to see a program that takes what is free."""
        spare = sample.available_bytes - sample.pending_bytes - self._bounds.headroom_bytes
        return min(_SELDOM_SECONDS, max(_OFTEN_SECONDS, spare / _FASTEST_NEIGHBOUR))

    @property
    def _tolerance(self) -> int:
        return max(_LEAST_TOLERANCE, self._bounds.headroom_bytes // _TOLERANCE)

    def _within(self, nbytes: int) -> int:
        return max(self._bounds.least_bytes, min(nbytes, self._bounds.most_bytes))

    def _lead(self, time_s: float, total: int) -> int:
        """What others may take before the next look, going by what they took just now."""
        self._totals.append((time_s, total))
        while self._totals[0][0] < time_s - _LEAD_SECONDS:
            self._totals.popleft()
        return min(max(before for _, before in self._totals) - total, _MOST_LEAD)

    def _remember(self, time_s: float, room: int) -> None:
        if not self._room:
            self._since = time_s
        while self._room and self._room[-1][1] >= room:
            self._room.pop()
        self._room.append((time_s, room))
        while self._room[0][0] < time_s - self._patience:
            self._room.popleft()

    def _set(self, nbytes: int, reason: Reason) -> None:
        self.decision = Decision(nbytes, reason)

    def _shrink(self, time_s: float, room: int) -> None:
        if time_s - self._grown < 2 * self._patience:  # it came back: what seemed free was not
            self._patience = min(2 * self._patience, _MOST_PATIENCE_SECONDS)
        self._grown = float("-inf")  # one that takes more bit by bit has come back once
        self._shrunk = self._eased = time_s
        self._set(room, "memory is short")

    def _maybe_grow(self, time_s: float) -> None:
        if time_s - self._eased >= _CALM * self._patience:
            self._patience, self._eased = max(self._patience / 2, _PATIENCE_SECONDS), time_s
        calm_since = max(self._since, self._shrunk)
        if time_s - calm_since < self._patience or time_s - self._grown < _STEP_SECONDS:
            return
        gap = self._room[0][1] - self.decision.cache_bytes
        if gap > self._tolerance or (gap > 0 and self._room[0][1] == self._bounds.most_bytes):
            self._grown = time_s
            self._set(self.decision.cache_bytes + max(gap // 2, min(gap, self._tolerance)), "memory is free")
