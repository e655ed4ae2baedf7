"""Every download the user asked for, as it is stored and as it moves from state to state. Pure."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from app.models.downloads.listing import Listing, RemoteFile, Variant

AT_ONCE = 2
"""Downloads that run side by side; more of them only share one line."""


class Status(enum.StrEnum):
    """Where a download stands; the value is stored."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True)
class Download:
    """One variant of one repository on its way to a library folder.

    Attributes:
        key: identity, also after a restart: the same variant to the same folder is one download.
        done: bytes on disk as last reported.
        phase: "load" or "check" while it runs.
        reason, detail: why it failed (downloads.errors.Reason and its detail).
        path: the finished model.
    """

    key: str
    repository: str
    commit: str
    name: str
    folder: str
    files: tuple[RemoteFile, ...]
    status: Status = Status.WAITING
    done: int = 0
    phase: str = "load"
    reason: str = ""
    detail: str = ""
    path: str = ""

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen by itself and nothing is left to resume."""
        return self.status is Status.DONE

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {**asdict(self), "status": self.status.value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Download:
        """Inverse of to_json; what ran when the program ended waits. Raises KeyError, TypeError, ValueError."""
        status = Status(data["status"])
        fields = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        fields["files"] = tuple(RemoteFile(**file) for file in data["files"])
        fields["status"] = Status.WAITING if status is Status.RUNNING else status
        return cls(**fields)


def new_download(listing: Listing, variant: Variant, folder: str) -> Download:
    """A download of this variant to this folder, waiting for its turn."""
    key = f"{listing.repository}/{variant.name}@{folder}"
    return Download(key, listing.repository, listing.commit, variant.name, folder, variant.files)


def next_to_start(downloads: Iterable[Download]) -> Download | None:
    """The download whose turn it is: the oldest waiting one while fewer than AT_ONCE run."""
    downloads = list(downloads)
    if sum(download.status is Status.RUNNING for download in downloads) >= AT_ONCE:
        return None
    return next((download for download in downloads if download.status is Status.WAITING), None)


def started(download: Download) -> Download:
    """It runs; an earlier failure is forgotten."""
    return replace(download, status=Status.RUNNING, reason="", detail="", phase="load")


def progressed(download: Download, done: int, phase: str) -> Download:
    """It told how far it is; `done` in bytes of the whole download."""
    return replace(download, done=min(done, download.total), phase=phase)


def paused(download: Download) -> Download:
    """The user holds it; what is on disk stays."""
    return replace(download, status=Status.PAUSED)


def resumed(download: Download) -> Download:
    """The user lets it go on, after a pause or a failure."""
    return replace(download, status=Status.WAITING, reason="", detail="")


def failed(download: Download, reason: str, detail: str) -> Download:
    """It stopped with a reason. A wrong hash means that what was there is gone."""
    done = 0 if reason == "wrong-hash" else download.done
    return replace(download, status=Status.FAILED, reason=reason, detail=detail, done=done)


def finished(download: Download, path: str) -> Download:
    """All bytes are there and checked."""
    return replace(download, status=Status.DONE, done=download.total, path=path)
