"""One client connection: uvicorn's, with a bound on how long a request's head may take and on their number."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.server.serve_settings import Limits


class PatientConnection(H11Protocol):
    """Closes itself when a request's head does not arrive in time: uvicorn alone would wait for ever."""

    limits = Limits()
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected; refused beyond the bound."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
            return
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        super().data_received(data)
        if self._in_request():
            self._forget_timer()
        elif self._head_timer is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._forget_timer()
        super().connection_lost(exc)

    def _in_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.limits.header_seconds, self._head_is_late)

    def _head_is_late(self) -> None:
        self._head_timer = None
        if not self._in_request():
            self.transport.abort()

    def _forget_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def connection_class(limits: Limits) -> type[Any]:
    """The connection class of a server with these limits."""
    return type("Connection", (PatientConnection,), {"limits": limits})
