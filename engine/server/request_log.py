"""Who uses the service: the last requests of other programs, for the window's server page. Nothing of their contents.

Requests of the window itself and `/health` are left out. ASGI middleware around everything else, so that refused
requests are seen too: a wrong key is what a person looks for here.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

WINDOW_AGENT = "Gannet-Window"
"""User-Agent of the application's window."""
KEPT = 200
ACTIVE_SECONDS = 300.0


@dataclass(slots=True)
class Entry:
    """One request: `started` in seconds since 1970, `client` as it names itself, `status` 0 until it answers."""

    started: float
    client: str
    address: str
    method: str
    path: str
    status: int = 0
    seconds: float = 0.0


class RequestLog:
    """The latest requests, newest last. Belongs to the event loop."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)

    def add(self, entry: Entry) -> None:
        """A request has begun."""
        self._entries.append(entry)

    def as_json(self) -> dict[str, Any]:
        """`requests`, and `clients`: programs that asked something lately, with how many requests and when last."""
        clients: dict[tuple[str, str], dict[str, Any]] = {}
        for entry in self._entries:
            if entry.status and entry.started + entry.seconds < time.time() - ACTIVE_SECONDS:
                continue
            key = (entry.client, entry.address)
            new = {"client": entry.client, "address": entry.address, "requests": 0, "last": 0.0}
            known = clients.setdefault(key, new)
            known["requests"] += 1
            known["last"] = entry.started
        return {"requests": [asdict(entry) for entry in self._entries], "clients": list(clients.values())}


class LogRequests:
    """The middleware."""

    def __init__(self, app: ASGIApp, log: RequestLog) -> None:
        self._app, self._log = app, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note a request and how it ended."""
        agent = Headers(scope=scope).get("user-agent", "") if scope["type"] == "http" else WINDOW_AGENT
        if agent.startswith(WINDOW_AGENT) or scope["path"] == "/health":
            await self._app(scope, receive, send)
            return
        address = scope["client"][0] if scope.get("client") else ""
        name = agent.split(" ")[0][:80] or "?"
        entry = Entry(time.time(), name, address, scope["method"], scope["path"][:200])
        self._log.add(entry)

        async def watching(message: Message) -> None:
            if message["type"] == "http.response.start":
                entry.status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watching)
        finally:
            entry.status = entry.status or 499
            entry.seconds = round(time.time() - entry.started, 3)
