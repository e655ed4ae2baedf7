"""Which model the engine has and what it is doing with it: the answer of `/health`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.server.errors import ApiError
from engine.server.event_log import EventLog

Phase = Literal["empty", "loading", "ready", "busy", "failed"]


@dataclass(frozen=True, slots=True)
class Health:
    """What `/health` says. `progress` is the share of a load that is done, 0 to 1; `phase` says what is being done."""

    state: Phase = "empty"
    model: str | None = None
    progress: float = 0.0
    phase: str = ""
    error: ApiError | None = None

    def as_json(self, version: str) -> dict[str, Any]:
        """The JSON object of `/health` and of `state` events."""
        shown = {name: getattr(self, name) for name in ("state", "model", "progress", "phase")}
        error = None if self.error is None else {"message": str(self.error), "code": self.error.code}
        return shown | {"error": error, "version": version}


class ModelState:
    """The current `Health`, changed by the engine thread, read by anyone; every change is a `state` event."""

    def __init__(self, events: EventLog, version: str) -> None:
        self._events = events
        self._version = version
        self._lock = threading.Lock()
        self._health = Health()

    @property
    def health(self) -> Health:
        """The state at this moment."""
        return self._health

    def as_json(self) -> dict[str, Any]:
        """The state at this moment as JSON."""
        return self._health.as_json(self._version)

    def set(self, health: Health) -> None:
        """Replace the state; publishes a `state` event if it is another one."""
        with self._lock:
            before, self._health = self._health, health
        if replace(before, progress=0.0, phase="") != replace(health, progress=0.0, phase=""):
            self._events.publish("state", health.as_json(self._version))

    def set_busy(self, busy: bool) -> None:
        """Between ready and busy; any other state stays."""
        health = self._health
        if health.state in ("ready", "busy"):
            self.set(replace(health, state="busy" if busy else "ready"))

    def progress(self, share: float, phase: str) -> None:
        """A load has come this far; publishes a `progress` event when a whole percent or the phase changed."""
        before = self._health
        if before.state != "loading":
            return
        self._health = replace(before, progress=share, phase=phase)
        if phase != before.phase or int(share * 100) != int(before.progress * 100):
            self._events.publish("progress", {"progress": share, "phase": phase})

    def cache_changed(self, change: Mapping[str, Any]) -> None:
        """The expert cache was given another size; publishes a `cache` event. Any thread."""
        self._events.publish("cache", change)
