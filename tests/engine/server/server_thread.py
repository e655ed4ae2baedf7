"""A server without a model in a thread of the test process: quick to start, with limits of the test's choice."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.server.listening import listen, url_of
from engine.server.running import run_service
from engine.server.serve_settings import Limits, ServeSettings
from engine.server.service import Service
from engine.settings import EngineSettings

KEY = "the-key"


class ServerThread:
    """A running server. Attributes: `service`, `url`, `address` (host, port)."""

    def __init__(self, service: Service, opened: socket.socket) -> None:
        self.service = service
        self.url = url_of(opened)
        self.address: tuple[str, int] = opened.getsockname()[:2]

    def talk(self, data: bytes, seconds: float = 5.0) -> bytes:
        """Send bytes and read until the server closes the connection."""
        with socket.create_connection(self.address, seconds) as connection:
            connection.sendall(data)
            answer = b""
            try:
                while chunk := connection.recv(65536):
                    answer += chunk
            except ConnectionResetError:  # it closed without reading the rest of what we sent
                pass
            return answer


@contextmanager
def serving(folder: Path, limits: Limits | None = None, **settings: object) -> Iterator[ServerThread]:
    """Serve while open."""
    opened = listen("127.0.0.1", 0)
    chosen = ServeSettings(key=KEY, state_folder=folder, limits=limits or Limits(), **settings)  # type: ignore[arg-type]
    service = Service(chosen, EngineSettings(), "test")
    ready = threading.Event()
    thread = threading.Thread(target=run_service, args=(service, opened, ready.set, False))
    thread.start()
    try:
        assert ready.wait(30), "the server did not start"
        yield ServerThread(service, opened)
    finally:
        service.request_shutdown()
        thread.join(15)
        opened.close()
        assert not thread.is_alive(), "the server did not end"
