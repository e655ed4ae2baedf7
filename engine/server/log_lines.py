"""The engine's log as the window shows it: a bounded list of lines, and an event for each."""

from __future__ import annotations

import logging
import threading
from collections import deque

from engine.errors import one_line
from engine.server.event_log import EventLog

_KEPT = 5000


class LogLines(logging.Handler):
    """Keeps the latest log lines and publishes each as a `log` event."""

    def __init__(self, events: EventLog) -> None:
        super().__init__(logging.INFO)
        self._events = events
        self._lines: deque[str] = deque(maxlen=_KEPT)
        self._guard = threading.Lock()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record; a message of several lines (a traceback) becomes several."""
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - a broken record must not break the answer that logged it
            self.handleError(record)
            return
        for line in text.splitlines():
            shown = one_line(line.rstrip())
            with self._guard:
                self._lines.append(shown)
            self._events.publish("log", {"level": record.levelname.lower(), "line": shown})

    def latest(self, count: int) -> list[str]:
        """The last `count` lines, oldest first."""
        with self._guard:
            return list(self._lines)[-count:] if count > 0 else []
