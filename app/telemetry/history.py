"""The engine's snapshots of the last minutes, one a second, kept whether anybody looks or not.

Only references are kept: nothing is worked out before the page is opened, and nothing is drawn.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject

from app.engine_client import EngineClient, State
from app.telemetry.figures import Snapshot

KEEP_S = 180
EVERY_S = 0.95
"""Snapshots come ten a second; the tenth may be a little early."""


class TelemetryHistory(QObject):
    """Snapshots of the loaded model, each with the moment it came (seconds of `clock`, by default time.monotonic)."""

    def __init__(
        self, client: EngineClient, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self._kept: deque[tuple[float, Snapshot]] = deque(maxlen=KEEP_S)
        client.telemetry.connect(self._took)
        client.state_changed.connect(self._state_changed)

    def since(self, moment: float) -> Iterator[tuple[float, Snapshot]]:
        """What came after `moment`, oldest first."""
        return ((at, snapshot) for at, snapshot in tuple(self._kept) if at > moment)

    def _took(self, snapshot: Snapshot) -> None:
        now = self._clock()
        if not self._kept or now - self._kept[-1][0] >= EVERY_S:
            self._kept.append((now, snapshot))

    def _state_changed(self, state: State) -> None:
        if state not in (State.READY, State.BUSY):
            self._kept.clear()  # another model's counters begin again
