"""Keeps the expert cache of a loaded model as large as memory allows, in the middle of an answer too.

The decisions are `engine.elastic`'s; this measures, on a thread of its own, and resizes. A resize takes what is not
being computed on or read into from the cache at once, the rest when the layer or the read has ended, and gives the
memory back to the system.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import psutil

from engine.elastic import CacheBounds, CacheState, ElasticSize, MemorySample, Reason
from engine.memory import MemoryAvailable
from engine.sizes import format_bytes

_log = logging.getLogger(__name__)
_AFTER_FAILURE_SECONDS = 0.25


def _resident_bytes() -> int:
    return int(psutil.Process().memory_info().rss)


class ResizableCache(Protocol):
    """The native cache; its methods may be called by any thread."""

    @property
    def cache_bytes(self) -> int:
        """What it may hold."""

    @property
    def held_bytes(self) -> int:
        """Memory it has taken and not given back."""

    def resize(self, nbytes: int, /) -> int:
        """Set the size; returns what was set, in whole experts."""


@dataclass(frozen=True, slots=True)
class CacheChange:
    """The cache was given another size.

    Attributes:
        reason, source: why, and whose memory decided (as in `MemoryAvailable.source`).
        seconds: time it took, memory given back to the system included.
    """

    before_bytes: int
    cache_bytes: int
    reason: Reason
    source: str
    seconds: float


class CacheMonitor:
    """Resizes a cache while it runs; not running until `start`.

    `on_change` is called, on the thread that resized, after each change. `growth_bytes` is memory that the model has
    asked the system for and will touch later: until the process, whose memory `resident` tells in bytes, has grown by
    so much it is not the cache's to take.
    """

    def __init__(
        self,
        cache: ResizableCache,
        bounds: CacheBounds,
        measure: Callable[[], MemoryAvailable],
        growth_bytes: int = 0,
        resident: Callable[[], int] = _resident_bytes,
    ) -> None:
        self.on_change: Callable[[CacheChange], None] | None = None
        self._cache = cache
        self._policy = ElasticSize(bounds, cache.cache_bytes)
        self._measure = measure
        self._growth = _Growth(growth_bytes, cache, resident)
        self._lock = threading.Lock()
        self._state = CacheState(bounds.most_bytes)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether the cache follows memory."""
        return self._thread is not None

    @property
    def state(self) -> CacheState:
        """How the cache's size came about."""
        return self._state

    def start(self) -> None:
        """Begin to follow memory; does nothing if it does."""
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="cache monitor", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Leave the cache as it is and end the thread; safe to call twice."""
        thread, self._thread = self._thread, None
        self._stop.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def ask(self, bounds: CacheBounds) -> int:
        """Change the bounds and resize at once to what they and memory allow; returns the size set, in bytes."""
        with self._lock:
            self._policy.ask(bounds)
        self._look(at_any_rate=True)
        return self._cache.cache_bytes

    def _run(self) -> None:
        wait, failing = 0.0, False
        while not self._stop.wait(wait):
            try:
                wait, failing = self._look(), False
            except (OSError, psutil.Error) as error:  # such as no file to be had for /proc: the next look may do better
                if not failing:
                    _log.warning("the expert cache cannot follow memory for now: %s", error)
                wait, failing = _AFTER_FAILURE_SECONDS, True

    def _look(self, at_any_rate: bool = False) -> float:
        """Measure, and resize if need be; returns the seconds until the next look.

        `at_any_rate`: resize even if the decision is the last one, since the cache may have another size meanwhile.
        """
        with self._lock:
            available = self._measure()
            sample = MemorySample(time.monotonic(), available.available_bytes, *self._growth.held_and_pending())
            before = self._policy.decision
            after = self._policy.decide(sample)
            change = None
            if at_any_rate or after.cache_bytes != before.cache_bytes:
                change = self._resize(after.cache_bytes, after.reason, available.source)
        if change is not None:
            self._tell(change)
        return self._policy.next_look_s(sample)

    def _resize(self, nbytes: int, reason: Reason, source: str) -> CacheChange | None:
        before, began = self._cache.cache_bytes, time.perf_counter()
        now = self._cache.resize(nbytes)
        seconds = time.perf_counter() - began
        state = self._state
        self._state = CacheState(
            self._policy.bounds.most_bytes, state.shrinks + (now < before), state.grows + (now > before), reason
        )
        return CacheChange(before, now, reason, source, seconds) if now != before else None

    def _tell(self, change: CacheChange) -> None:
        sizes = f"{format_bytes(change.cache_bytes)} instead of {format_bytes(change.before_bytes)}"
        _log.info("the expert cache has %s: %s (%s)", sizes, change.reason, change.source)
        if self.on_change is not None:
            self.on_change(change)


class _Growth:
    """What the process will still grow by beside the cache, from how much it has grown since it was smallest.

    From its smallest, not from the start: what a load leaves to be freed would else hide that much growth for good.
    """

    def __init__(self, expected_bytes: int, cache: ResizableCache, resident: Callable[[], int]) -> None:
        self._cache = cache
        self._expected = expected_bytes
        self._resident = resident
        self._least = resident() - cache.held_bytes
        self._most = 0

    def held_and_pending(self) -> tuple[int, int]:
        """Bytes the cache holds, and bytes the process has still to touch."""
        before = self._cache.held_bytes
        resident = self._resident()
        held = self._cache.held_bytes
        # The cache may change between the calls; too little growth keeps memory free for a moment, too much takes it.
        self._most = max(self._most, resident - max(before, held) - self._least)
        self._least = min(self._least, resident - min(before, held))
        return held, max(0, self._expected - self._most)
