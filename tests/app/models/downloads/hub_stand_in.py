"""A model hub on the loopback interface for tests: serves one repository, and misbehaves on request."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPOSITORY = "someone/little-moe-GGUF"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class StandIn:
    """What the hub holds and how it misbehaves.

    Attributes:
        files: path -> content.
        wrong_hash: paths whose published SHA-256 belongs to other bytes.
        drop_after: per request for a file, in order: bytes after which the line breaks (None: it does not).
        stall_after: the same, but the line stays open and silent.
        answers: HTTP statuses for the next file requests instead of the file.
        ranges: whether Range headers are honoured.
        half: whether only the first half of every body is sent until `hold` is set.
        requested: the Range header of every file request.
    """

    files: dict[str, bytes]
    wrong_hash: set[str] = field(default_factory=set)
    drop_after: list[int | None] = field(default_factory=list)
    stall_after: list[int | None] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    ranges: bool = True
    gated: bool = False
    requested: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    hold: threading.Event = field(default_factory=threading.Event)
    half: bool = False
    url: str = ""

    def published_hash(self, path: str) -> str:
        """The SHA-256 that the hub's LFS record names."""
        content = b"something else" if path in self.wrong_hash else self.files[path]
        return hashlib.sha256(content).hexdigest()


@contextmanager
def serving(stand_in: StandIn) -> Iterator[StandIn]:
    """Serve until the end of the with block; sets `url`."""

    class Handler(_Handler):
        hub = stand_in

    server = _QuietServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    stand_in.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield stand_in
    finally:
        stand_in.released.set()
        stand_in.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 0.5  # seconds: a kept-alive connection that a client leaves idle must not hold up the end of a test
    hub: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Tests read what the client did from `requested`, not from stderr."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == f"/api/models/{REPOSITORY}":
            self._repository()
        elif path.startswith(f"/{REPOSITORY}/resolve/{COMMIT}/"):
            self._file(path.removeprefix(f"/{REPOSITORY}/resolve/{COMMIT}/"))
        else:
            self._json(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})

    def _repository(self) -> None:
        if self.hub.gated:
            self._json(403, {"error": "gated"}, {"X-Error-Code": "GatedRepo"})
            return
        siblings = [
            {
                "rfilename": path,
                "size": len(content),
                "blobId": "b",
                "lfs": {"size": len(content), "sha256": self.hub.published_hash(path), "pointerSize": 130},
            }
            for path, content in self.hub.files.items()
        ]
        answer = {"id": REPOSITORY, "sha": COMMIT, "siblings": siblings, "tags": [], "cardData": {"license": "mit"}}
        self._json(200, answer, {})

    def _file(self, path: str) -> None:
        asked = self.headers.get("Range", "")
        self.hub.requested.append(asked)
        if self.hub.answers:
            self._json(self.hub.answers.pop(0), {"error": "busy"}, {})
            return
        content = self.hub.files[path]
        first, last = 0, len(content) - 1
        if asked and self.hub.ranges:
            start, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = int(start), min(int(end or last), last)
        body = content[first : last + 1]
        self.send_response(206 if asked and self.hub.ranges else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        drop = self.hub.drop_after.pop(0) if self.hub.drop_after else None
        stall = self.hub.stall_after.pop(0) if self.hub.stall_after else None
        self._send(body, drop if drop is not None else stall)
        if stall is not None:
            self.hub.released.wait()
        if drop is not None or stall is not None:
            self.close_connection = True

    def _send(self, body: bytes, limit: int | None) -> None:
        body = body if limit is None else body[:limit]
        if not self.hub.half:
            self.wfile.write(body)
            return
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        self.hub.hold.wait()
        self.wfile.write(body[len(body) // 2 :])

    def _json(self, status: int, value: object, headers: dict[str, str]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)
