"""Bounded, buffered reading of a model file's header.

No count or length from the file is believed before it is compared with the bytes that are left in the file, so a
damaged header costs neither memory nor time. The file is read in pieces and never mapped.
"""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.errors import ModelFileError

CHUNK_BYTES = 1 << 18
_LENGTH = struct.Struct("<Q")


class HeaderSource:
    """Reads forward through one regular file. A context manager.

    Attributes:
        path: the file.
        size: its length in bytes when opened.
    """

    def __init__(self, path: Path) -> None:
        """Open `path`; raises ModelFileError where it is not a readable, regular, non-empty file."""
        self.path = path
        try:
            # Looked at before opening: opening a named pipe would wait for a writer.
            kind = path.stat().st_mode
            if stat.S_ISDIR(kind):
                raise self.error("is a folder, not a model file; name the .gguf file in it")
            if not stat.S_ISREG(kind):
                raise self.error("is not a regular file (a pipe or a device); name a .gguf file")
            self._file = path.open("rb", buffering=0)
        except (OSError, ValueError) as problem:
            raise ModelFileError(f"{path}: {_why_unreadable(problem)}") from problem
        self.size = os.fstat(self._file.fileno()).st_size
        self._buffer = b""
        self._start = 0  # position in the file of the buffer's first byte
        self._at = 0  # position in the buffer of the next byte to hand out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()

    def error(self, what: str) -> ModelFileError:
        """The error that names this file and says `what` is wrong."""
        return ModelFileError(f"{self.path}: {what}")

    @property
    def position(self) -> int:
        """Offset in the file of the next byte."""
        return self._start + self._at

    @property
    def remaining(self) -> int:
        """Bytes between the position and the end of the file."""
        return self.size - self.position

    def seek(self, position: int) -> None:
        """Go on at `position`, an offset from the start of the file."""
        if self._start <= position <= self._start + len(self._buffer):
            self._at = position - self._start
            return
        self._buffer, self._start, self._at = b"", position, 0

    def read(self, nbytes: int, what: str) -> bytes:
        """The next `nbytes` bytes; `what` names them in the error raised when the file ends before."""
        self.require(nbytes, what)
        self._fill(nbytes, what)
        piece = self._buffer[self._at : self._at + nbytes]
        self._at += nbytes
        return piece

    def unpack(self, layout: struct.Struct, what: str) -> tuple[int, ...]:
        """The values of a fixed layout at the position."""
        if self._at + layout.size > len(self._buffer):
            self.require(layout.size, what)
            self._fill(layout.size, what)
        values = layout.unpack_from(self._buffer, self._at)
        self._at += layout.size
        return values

    def text(self, limit: int, what: str) -> bytes:
        """A string: its length, at most `limit`, and then its bytes."""
        (length,) = self.unpack(_LENGTH, what)
        if length > limit:
            raise self.error(f"{what} claims {length:,} bytes; the file is damaged, download it again")
        return self.read(length, what)

    def skip(self, nbytes: int, what: str) -> None:
        """Pass over `nbytes` bytes."""
        self.require(nbytes, what)
        self.seek(self.position + nbytes)

    def texts(self, count: int, limit: int, what: str) -> list[bytes]:
        """The next `count` strings; as quick as Python goes, vocabularies have hundreds of thousands of them."""
        self.require(count * _LENGTH.size, what)
        found: list[bytes] = []
        while len(found) < count:
            self._buffered_texts(count, found)
            if len(found) < count:
                found.append(self.text(limit, what))
        return found

    def _buffered_texts(self, count: int, found: list[bytes]) -> None:
        """Add strings to `found`, up to `count` in all, as long as they lie in the buffer."""
        buffer, at, unpack = self._buffer, self._at, _LENGTH.unpack_from
        end = len(buffer) - _LENGTH.size
        while at <= end and len(found) < count:
            start = at + _LENGTH.size
            following = start + unpack(buffer, at)[0]
            if following > len(buffer):
                break
            found.append(buffer[start:following])
            at = following
        self._at = at

    def skip_texts(self, count: int, what: str) -> None:
        """Pass over `count` strings."""
        self.require(count * _LENGTH.size, what)
        while count:
            count -= self._skip_buffered_texts(count)
            if count:
                (length,) = self.unpack(_LENGTH, what)
                self.skip(length, what)
                count -= 1

    def _skip_buffered_texts(self, count: int) -> int:
        """Pass over strings, at most `count`, as long as they lie in the buffer; returns how many those were."""
        buffer, at, unpack = self._buffer, self._at, _LENGTH.unpack_from
        end, skipped = len(buffer) - _LENGTH.size, 0
        while at <= end and skipped < count:
            following = at + _LENGTH.size + unpack(buffer, at)[0]
            if following > len(buffer):
                break
            at = following
            skipped += 1
        self._at = at
        return skipped

    def require(self, nbytes: int, what: str) -> None:
        """Raise unless the file has `nbytes` more bytes."""
        if nbytes > self.remaining:
            raise self.error(
                f"the header ends early: {what} needs {nbytes:,} bytes and {self.remaining:,} are left; "
                "the file is damaged or its download is incomplete, download it again"
            )

    def _fill(self, nbytes: int, what: str) -> None:
        """Make the buffer hold at least `nbytes` bytes from the position on."""
        kept = self._buffer[self._at :]
        if len(kept) >= nbytes:
            return
        pieces, have = [kept], len(kept)
        self._start, self._at = self._start + self._at, 0
        try:
            self._file.seek(self._start + have)
            while have < nbytes:
                piece = self._file.read(max(nbytes - have, CHUNK_BYTES))
                if not piece:
                    raise self.error(f"became shorter while {what} was read; let its download finish, then try again")
                pieces.append(piece)
                have += len(piece)
        except OSError as problem:
            raise self.error(f"cannot be read ({problem.strerror or problem}); check the drive") from problem
        self._buffer = b"".join(pieces)


def _why_unreadable(problem: OSError | ValueError) -> str:
    if isinstance(problem, FileNotFoundError):
        return "there is no such file; check the path"
    if isinstance(problem, PermissionError):
        return "may not be read by this user; change the file's permissions or copy it"
    if isinstance(problem, NotADirectoryError):
        return "there is no such file: a part of its path is a file, not a folder; check the path"
    if isinstance(problem, OSError):
        return f"cannot be opened ({problem.strerror or problem}); check the path and the drive"
    return "is not a path that can be opened; check it for odd characters"
