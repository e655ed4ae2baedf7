"""The hook a tuner plugs into: the engine runs it and passes its news on, without knowing who it is.

An installed package offers a tuner as entry points of the group `gannet.tuner`: `tune`, called like `Tune.__call__`,
and `stored`, called like `Stored.__call__`. While it tunes, the service's own model is unloaded, so that the tuner has
the machine's memory.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from engine.server.errors import ApiError
from engine.settings import EngineSettings

_log = logging.getLogger(__name__)
GROUP = "gannet.tuner"

Report = Callable[[Mapping[str, Any]], None]
Cancelled = Callable[[], bool]


class Tune(Protocol):
    """A tuner."""

    def __call__(
        self, path: Path, settings: EngineSettings, *, budget_s: float, report: Report, cancelled: Cancelled
    ) -> None:
        """Measure the model at `path`, starting from `settings`; returns when done or cancelled.

        `report` takes JSON objects, each of which becomes a `tune` event. It may be called from any thread.
        """
        ...


class Stored(Protocol):
    """Finds what a former tuning found."""

    def __call__(self, path: Path) -> Mapping[str, Any] | None:
        """The kept result for the model at `path` as a JSON object with what has changed since; None: never tuned."""
        ...


class Tuning:
    """Which tuner there is, and whether it runs. `run` works on the engine thread."""

    def __init__(self, tune: Tune | None = None) -> None:
        self._tune = tune
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._running = False

    def begin(self) -> Tune:
        """Claim the tuner. Raises `ApiError` if there is none or it runs."""
        tune: Tune | None = self._tune or _installed("tune")
        if tune is None:
            raise ApiError(409, "this installation has no tuner", "no_tuner")
        with self._lock:
            if self._running:
                raise ApiError(409, "a tuning is running; cancel it first", "tuning_in_progress")
            self._running = True
        self._cancelled.clear()
        return tune

    def end(self) -> None:
        """Give the tuner back."""
        with self._lock:
            self._running = False

    @property
    def running(self) -> bool:
        """Whether a tuning has the machine's memory."""
        return self._running

    def cancel(self) -> bool:
        """Ask a running tuning to stop; False if there is none."""
        self._cancelled.set()
        return self._running

    def cancelled(self) -> bool:
        """Whether the running tuning was asked to stop."""
        return self._cancelled.is_set()


def stored(path: Path) -> Mapping[str, Any] | None:
    """What an installed tuner has kept for the model at `path`; None without one."""
    find: Stored | None = _installed("stored")
    return None if find is None else find(path)


def _installed(name: str) -> Any:
    for point in entry_points(group=GROUP, name=name):
        return point.load()
    return None
