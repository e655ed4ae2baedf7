"""Running the service: the port, uvicorn, the ready line, and an end that does not wait for slow clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import uvicorn

from engine.server.http_config import http_config
from engine.server.service import Service
from engine.server.web import make_app

# An engine thread that hangs in a read must not keep the process alive.
_LAST_RESORT_SECONDS = 8.0

OnReady = Callable[[], None]


def run_service(service: Service, opened: socket.socket, on_ready: OnReady, own_process: bool = True) -> None:
    """Serve on the socket until the service is shut down or the process is told to end.

    `own_process`: the process is there for this alone, and ends for sure when the service does.
    """
    app = make_app(service)
    service.door.attach(app)
    config = http_config(app, service.settings.limits, "on")
    asyncio.run(_serve(_Server(config, service, on_ready, own_process), opened))


async def _serve(server: _Server, opened: socket.socket) -> None:
    await server.serve(sockets=[opened])


class _Server(uvicorn.Server):
    """uvicorn's server, which also ends when the service says so."""

    def __init__(self, config: uvicorn.Config, service: Service, on_ready: OnReady, own_process: bool) -> None:
        super().__init__(config)
        self._own_process = own_process
        self._service = service
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve, then say so."""
        await super().startup(sockets=sockets)
        if self.started:
            self._service.spawn(self._end_on_shutdown())
            self._on_ready()

    async def _end_on_shutdown(self) -> None:
        await self._service.shutdown.wait()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving: streams are ended, since some of them never end by themselves."""
        if self._own_process:
            end_for_sure()
        self._service.shutdown.set()
        await asyncio.gather(self._service.door.close(), super().shutdown(sockets=sockets))


def end_for_sure() -> None:
    """See that the process ends within seconds, whatever hangs."""
    timer = threading.Timer(_LAST_RESORT_SECONDS, os._exit, (70,))
    timer.daemon = True
    timer.start()


def print_line(content: Mapping[str, Any]) -> None:
    """One JSON line on standard output, at once."""
    with contextlib.suppress(OSError):  # nobody listens: the service serves all the same
        sys.stdout.write(json.dumps(content) + "\n")
        sys.stdout.flush()
