"""The door for other programs: a second address of a private engine, opened and closed while the model stays loaded.

The window starts the engine for itself, on a port and with a key nobody else knows. When the user lets other programs
in, the door gives them an address and a key of their own. Only the window's key opens or closes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from engine.server.errors import ApiError
from engine.server.http_config import http_config
from engine.server.listening import PortError, listen, url_of
from engine.server.serve_settings import Limits


class Door:
    """The second address. Belongs to the event loop.

    Attributes: `url`, where it is open, "" while it is closed.
    """

    def __init__(self, limits: Limits) -> None:
        self.url = ""
        self._limits = limits
        self._key = b""
        self._app: FastAPI | None = None
        self._server: _DoorServer | None = None
        self._serving: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()

    def attach(self, app: FastAPI) -> None:
        """Lead to this application."""
        self._app = app

    def admits(self, key: bytes) -> bool:
        """Whether `key` is that of the open door."""
        return bool(self._key) and hmac.compare_digest(key, self._key)

    async def open(self, host: str, port: int, key: str) -> str:
        """Open it there, or move it there; returns the address for programs on this machine.

        Raises `ApiError` 409 where the port cannot be had; the door is closed then.
        """
        assert self._app is not None
        async with self._changing:
            await self._close()
            try:
                opened = await asyncio.to_thread(listen, host, port)
            except PortError as error:
                raise ApiError(409, error.reason, "port_unavailable") from None
            self._key = key.encode()
            self.url = url_of(opened)
            self._server = _DoorServer(http_config(self._app, self._limits, "off"))
            self._serving = asyncio.create_task(self._server.serve(sockets=[opened]))
            return self.url

    async def close(self) -> None:
        """Close it: answers on their way to other programs have two seconds to end."""
        async with self._changing:
            await self._close()

    async def _close(self) -> None:
        server, serving = self._server, self._serving
        self._server = self._serving = None
        self._key, self.url = b"", ""
        if server is not None and serving is not None:
            server.should_exit = True
            await serving


class _DoorServer(uvicorn.Server):
    """uvicorn's server beside another one, which has the process's signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them where they are."""
        yield
