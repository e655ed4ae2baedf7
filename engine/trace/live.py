"""Recording the routing of a loaded model while it answers: the core copies it aside, a thread writes it down."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import threading
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from engine.errors import GannetError
from engine.sizes import format_bytes
from engine.trace.journal import JournalHeader

MOST_BYTES = 256 << 20  # of a file, unless told otherwise
_PENDING_BYTES = 32 << 20  # copied aside and not written yet: 20,000 tokens of 48 layers, 8 experts, lookahead 1
_WRITE_SECONDS = 0.25
_LEFT_FREE = 512 << 20  # on the drive, beside a file that is full: many small recordings must not fill it either

TraceState = Literal["recording", "full", "failed", "stopped"]


class LiveTraceError(GannetError):
    """A trace that cannot be begun."""


class TraceExistsError(LiveTraceError):
    """There is a file of this name already."""


class Tap(Protocol):
    """What the native model offers; see `routing_tap.h`."""

    def start_tap(self, n_used: int, distances: int, pending: int, /) -> None:
        """Copy aside from the next graph on."""

    def stop_tap(self) -> None:
        """Copy nothing any more."""

    def take_tap(self) -> bytes:
        """Whole records since the last call."""

    @property
    def tap_dropped(self) -> int:
        """Tokens that were not recorded because too much was waiting."""


@dataclasses.dataclass(frozen=True)
class TraceStatus:
    """How far a recording is; `dropped` tokens came faster than they could be written, `error` ended it."""

    path: Path
    state: TraceState
    tokens: int
    bytes: int
    max_bytes: int
    dropped: int
    error: str | None = None


class LiveTrace:
    """A recording to a new file at `path` of at most `max_bytes`. Its methods may be called by any thread.

    Raises TraceExistsError or LiveTraceError. The file is the user's alone, and complete up to the last quarter of a
    second whatever happens to the process.
    """

    def __init__(self, tap: Tap, header: JournalHeader, path: Path, max_bytes: int = MOST_BYTES) -> None:
        self._tap = tap
        self._record_bytes = header.record.itemsize
        first_line = header.encode()
        self._status = TraceStatus(path, "recording", 0, len(first_line), max_bytes, 0)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._file = _create(path, first_line, max_bytes)
        tap.start_tap(header.n_used, header.distances, _PENDING_BYTES)
        self._thread = threading.Thread(target=self._run, name="trace", daemon=True)
        self._thread.start()

    @property
    def status(self) -> TraceStatus:
        """How far it is."""
        with self._lock:
            return self._status

    def stop(self) -> TraceStatus:
        """Write what is left and close the file; doing so again changes nothing."""
        self._stopping.set()
        self._thread.join()
        return self.status

    def _run(self) -> None:
        while not self._stopping.wait(_WRITE_SECONDS) and self.status.state == "recording":
            self._drain()
        self._tap.stop_tap()
        self._drain()
        with contextlib.suppress(OSError):  # a disk that is full has said so already
            self._file.close()
        if self.status.state == "recording":
            self._update(state="stopped")

    def _drain(self) -> None:
        data = self._tap.take_tap()
        if self.status.state != "recording":
            return
        room = (self.status.max_bytes - self.status.bytes) // self._record_bytes * self._record_bytes
        if self._write(data[:room]):
            was = self.status
            tokens, size = was.tokens + len(data[:room]) // self._record_bytes, was.bytes + len(data[:room])
            self._update(tokens=tokens, bytes=size, dropped=self._tap.tap_dropped)
        if len(data) > room:
            self._update(state="full")

    def _write(self, data: bytes) -> bool:
        try:
            self._file.write(data)
            self._file.flush()
            return True
        except OSError as error:
            self._update(state="failed", error=f"{self._status.path}: cannot be written ({error.strerror})")
            return False

    def _update(self, **changes: object) -> None:
        with self._lock:
            self._status = dataclasses.replace(self._status, **changes)  # type: ignore[arg-type]  # names are fields'


def _create(path: Path, first_line: bytes, max_bytes: int) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        if path.exists():
            raise TraceExistsError(f"{path.name}: there is a trace of this name; choose another or remove it")
        path.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(path.parent).free
        if free < max_bytes + _LEFT_FREE:
            wanted = f"a trace of {format_bytes(max_bytes)} needs more than the {format_bytes(free)} that are free"
            raise LiveTraceError(f"{path.parent}: {wanted}; remove old traces or allow less")
        file = os.fdopen(os.open(path, flags, 0o600), "wb")
        file.write(first_line)
        file.flush()
        return file
    except OSError as error:
        raise LiveTraceError(f"{path}: the trace cannot be written ({error.strerror})") from error
