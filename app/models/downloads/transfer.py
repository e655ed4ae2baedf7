"""One file from the hub to the disk: resumed, checked, and never more than the disk can take.

The bytes go into `NAME.HASH.part` beside the final name, always a true beginning of the file, so that whatever ends
the process costs nothing but the last buffer. `hf_hub_download` would begin again: since version 1.x it writes to a
name of its own per process and removes it on failure.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx2
from huggingface_hub import get_session, hf_hub_url
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # public, but not in __all__

from app.models.downloads.errors import DownloadError, Reason
from app.models.downloads.listing import RemoteFile
from app.models.downloads.paths import part_path

RESERVE_BYTES = 512 << 20
"""Disk space that a download leaves free."""
WINDOW_BYTES = 8 << 30
"""One request asks for at most this much: some mirrors do not serve more than 50 GB at once."""
CHUNK_BYTES = 1 << 20
SPACE_CHECK_BYTES = 64 << 20
STALL_S = 20.0
ATTEMPTS_WITHOUT_DATA = 6
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


class Progress(Protocol):
    """Told the bytes of this file that are on disk, and the phase: "check" (reading back) or "load"."""

    def __call__(self, done: int, phase: str) -> None:
        """Called after every piece."""


@dataclass(frozen=True)
class Wanted:
    """One file to fetch: where from (repository at a commit), what it must be, and where to."""

    repository: str
    commit: str
    file: RemoteFile
    target: Path

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self.file.size

    @property
    def part(self) -> Path:
        """The unfinished file."""
        return part_path(self.target, self.file.sha256 or self.commit)


@dataclass
class Conditions:
    """What a test replaces: the disk's free bytes, waiting, and how patient to be."""

    free_bytes: Callable[[Path], int] = field(default=lambda folder: shutil.disk_usage(folder).free)
    sleep: Callable[[float], None] = time.sleep
    stall_s: float = STALL_S
    attempts: int = ATTEMPTS_WITHOUT_DATA
    endpoint: str | None = None
    window_bytes: int = WINDOW_BYTES
    space_check_bytes: int = SPACE_CHECK_BYTES


def missing_bytes(files: list[Wanted]) -> int:
    """Bytes that still have to be written for these files."""
    return sum(max(0, file.size - _present(file)) for file in files)


def check_space(files: list[Wanted], conditions: Conditions) -> None:
    """Raise DownloadError(NO_SPACE) with the bytes lacking when the rest does not fit on the drive."""
    if not files:
        return
    lacking = missing_bytes(files) + RESERVE_BYTES - conditions.free_bytes(files[0].target.parent)
    if lacking > 0:
        raise DownloadError(Reason.NO_SPACE, str(lacking))


def fetch(wanted: Wanted, progress: Progress, conditions: Conditions | None = None) -> None:
    """Bring one file to its final name, continuing what is there; raises DownloadError, and keeps what it has."""
    conditions = conditions or Conditions()
    if wanted.target.exists() and wanted.target.stat().st_size == wanted.size:
        progress(wanted.size, "check")
        return
    _drop_other_parts(wanted)
    try:
        digest = _Fetch(wanted, progress, conditions).run()
    except OSError as error:
        if error.errno in _FULL:
            raise DownloadError(Reason.NO_SPACE, str(missing_bytes([wanted]))) from error
        raise DownloadError(Reason.CANNOT_WRITE, str(error)) from error
    if wanted.file.sha256 not in (None, digest):
        wanted.part.unlink(missing_ok=True)
        raise DownloadError(Reason.WRONG_HASH, wanted.file.path)
    wanted.part.replace(wanted.target)


class _Fetch:
    """The state of one fetch: the open part file, its running hash, and failures since the last byte."""

    def __init__(self, wanted: Wanted, progress: Progress, conditions: Conditions) -> None:
        self._wanted, self._progress, self._conditions = wanted, progress, conditions
        self._hash = hashlib.sha256()
        self._done = 0
        self._until_space_check = 0
        self._failures = 0

    def run(self) -> str:
        """Fetch everything; returns the SHA-256 of the whole file as hex."""
        with self._wanted.part.open("a+b") as file:
            self._hash_existing(file)
            while self._done < self._wanted.size:
                self._attempt(file)
            file.flush()
            os.fsync(file.fileno())
        return self._hash.hexdigest()

    def _hash_existing(self, file: Any) -> None:
        file.seek(0)
        while self._done < self._wanted.size:
            chunk = file.read(min(CHUNK_BYTES, self._wanted.size - self._done))
            if not chunk:
                break
            self._account(chunk, "check")
        file.truncate(self._done)

    def _attempt(self, file: Any) -> None:
        """One request for one window; network trouble is waited out, anything else raises."""
        before = self._done
        try:
            self._window(file)
            if self._done == before:
                raise httpx2.RemoteProtocolError("the server sent nothing")
        except httpx2.TransportError as error:
            self._failures += 1
            if self._failures >= self._conditions.attempts:
                stalled = isinstance(error, httpx2.ReadTimeout)
                raise DownloadError(Reason.STALLED if stalled else Reason.OFFLINE, str(error)) from error
            self._conditions.sleep(min(30.0, 2.0 ** (self._failures - 1)))

    def _window(self, file: Any) -> None:
        last = min(self._wanted.size, self._done + self._conditions.window_bytes) - 1
        headers = {**build_hf_headers(), "Range": f"bytes={self._done}-{last}", "Accept-Encoding": "identity"}
        wanted = self._wanted
        url = hf_hub_url(
            wanted.repository, wanted.file.path, revision=wanted.commit, endpoint=self._conditions.endpoint
        )
        timeout = self._conditions.stall_s
        with get_session().stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as response:
            self._require_usable(response)
            if response.status_code == 200 and self._done:  # the server does not do ranges: it sends all from the start
                self._restart(file)
            for chunk in response.iter_raw():
                self._take(file, chunk[: self._wanted.size - self._done])

    def _require_usable(self, response: httpx2.Response) -> None:
        if response.status_code in (200, 206):
            return
        if response.status_code in (401, 403):
            raise DownloadError(Reason.NEEDS_LOGIN, self._wanted.repository)
        if response.status_code == 404:
            raise DownloadError(Reason.NOT_FOUND, self._wanted.file.path)
        if response.status_code in (408, 429) or response.status_code >= 500:
            raise httpx2.RemoteProtocolError(f"HTTP {response.status_code}")
        raise DownloadError(Reason.SERVER, f"HTTP {response.status_code}")

    def _take(self, file: Any, chunk: bytes) -> None:
        if self._until_space_check <= 0:
            self._until_space_check = self._conditions.space_check_bytes
            self._require_space(len(chunk))
        file.write(chunk)
        self._until_space_check -= len(chunk)
        self._failures = 0
        self._account(chunk, "load")

    def _require_space(self, coming: int) -> None:
        free = self._conditions.free_bytes(self._wanted.target.parent)
        if free < RESERVE_BYTES // 2 + coming:
            lacking = self._wanted.size - self._done + RESERVE_BYTES - free
            raise DownloadError(Reason.NO_SPACE, str(lacking))

    def _account(self, chunk: bytes, phase: str) -> None:
        self._hash.update(chunk)
        self._done += len(chunk)
        self._progress(self._done, phase)

    def _restart(self, file: Any) -> None:
        file.seek(0)
        file.truncate(0)
        self._hash, self._done = hashlib.sha256(), 0


def _present(wanted: Wanted) -> int:
    for path in (wanted.target, wanted.part):
        if path.exists():
            return path.stat().st_size
    return 0


def _drop_other_parts(wanted: Wanted) -> None:
    """Remove unfinished copies of another version of the same file: they can never be completed."""
    for path in wanted.target.parent.glob("*.part"):
        name = path.name.removesuffix(".part")
        if name.rpartition(".")[0] == wanted.target.name and path != wanted.part:
            path.unlink(missing_ok=True)
