"""What happens in the engine, as numbered events that several clients follow and resume.

Any thread publishes; followers live in one asyncio loop. The log keeps the latest events of each kind that is worth
replaying; telemetry is worth only its latest value.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

_KEPT = 1000
_BACKLOG = 256


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One event: `id` grows by one with every event, `name` is its SSE name, `data` its JSON object."""

    id: int
    name: str
    data: Mapping[str, Any]


class EventLog:
    """Numbered events, replayable from an id.

    `publish` may be called from any thread; `follow` belongs to the loop given to `attach`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: deque[LoggedEvent] = deque(maxlen=_KEPT)
        self._latest_telemetry: LoggedEvent | None = None
        self._next_id = 1
        self._loop: asyncio.AbstractEventLoop | None = None
        self._followers: set[asyncio.Queue[LoggedEvent]] = set()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Name the loop in which followers live."""
        self._loop = loop

    @property
    def followed(self) -> bool:
        """True while anyone follows: telemetry need not be taken otherwise."""
        return bool(self._followers)

    def publish(self, name: str, data: Mapping[str, Any]) -> LoggedEvent:
        """Number an event, keep it and hand it to the followers."""
        with self._lock:
            event = LoggedEvent(self._next_id, name, data)
            self._next_id += 1
            if name == "telemetry":
                self._latest_telemetry = event
            else:
                self._events.append(event)
            loop = self._loop
        if loop is not None:
            try:
                loop.call_soon_threadsafe(self._hand_out, event)
            except RuntimeError:  # the loop has been closed: nobody follows any more
                self._loop = None
        return event

    def since(self, last_id: int) -> list[LoggedEvent]:
        """The kept events after `last_id`, oldest first, the latest telemetry among them."""
        with self._lock:
            events = [event for event in self._events if event.id > last_id]
            telemetry = self._latest_telemetry
        if telemetry is not None and telemetry.id > last_id:
            events.append(telemetry)
        return sorted(events, key=lambda event: event.id)

    async def follow(self, last_id: int | None) -> AsyncIterator[LoggedEvent]:
        """Events after `last_id` (None: only new ones), forever; a follower that falls far behind skips telemetry."""
        queue: asyncio.Queue[LoggedEvent] = asyncio.Queue()
        self._followers.add(queue)
        try:
            seen = 0
            for event in self.since(last_id) if last_id is not None else ():
                seen = event.id
                yield event
            while True:
                event = await queue.get()
                behind = event.name == "telemetry" and queue.qsize() > _BACKLOG
                if event.id > seen and not behind:
                    yield event
        finally:
            self._followers.discard(queue)

    def _hand_out(self, event: LoggedEvent) -> None:
        for queue in self._followers:
            # A client that reads nothing must not grow our memory: beyond the bound it loses telemetry, then all.
            if queue.qsize() < (_BACKLOG if event.name == "telemetry" else 4 * _BACKLOG):
                queue.put_nowait(event)
