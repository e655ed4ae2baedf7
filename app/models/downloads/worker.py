"""The child process of one download: a job as one JSON line on stdin, events as JSON lines on stdout.

Jobs: {"do": "list", "repository"} and {"do": "fetch", "repository", "commit", "folder", "files": [RemoteFile...]}.
Events: {"event": "listing", "listing"}, {"event": "progress", "done", "phase"}, {"event": "done"},
{"event": "failed", "reason", "detail"}. The process ends when its stdin closes: that is how it is paused, and why it
does not outlive the window.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.models.downloads.errors import DownloadError, Reason
from app.models.downloads.listing import RemoteFile
from app.models.downloads.paths import target_file, target_folder

REPORT_EVERY_S = 0.2


def main(arguments: Sequence[str] = ()) -> int:
    """Run the one job; exit status 0 when it is done, 1 when it failed (said as an event)."""
    job = json.loads(_first_line())
    threading.Thread(target=_leave_with_parent, daemon=True, name="parent-watch").start()
    try:
        _JOBS[job["do"]](job)
    except DownloadError as error:
        _say({"event": "failed", "reason": error.reason.value, "detail": error.detail})
        return 1
    except OSError as error:
        _say({"event": "failed", "reason": Reason.CANNOT_WRITE.value, "detail": str(error)})
        return 1
    return 0


def _list(job: dict[str, Any]) -> None:
    from app.models.downloads.hub import list_repository

    _say({"event": "listing", "listing": list_repository(job["repository"]).to_json()})


def _fetch(job: dict[str, Any]) -> None:
    from app.models.downloads.transfer import Conditions, Wanted, check_space, fetch

    folder, repository = Path(job["folder"]), job["repository"]
    target_folder(folder, repository).mkdir(parents=True, exist_ok=True)
    remote = [RemoteFile(**file) for file in job["files"]]
    files = [Wanted(repository, job["commit"], file, target_file(folder, repository, file)) for file in remote]
    conditions = Conditions()
    check_space(files, conditions)
    before = 0
    for wanted in files:
        fetch(wanted, _Reporter(before), conditions)
        before += wanted.size
    _say({"event": "done", "path": str(files[0].target)})


class _Reporter:
    """Says the progress of the whole job a few times a second."""

    def __init__(self, before: int) -> None:
        self._before = before
        self._next = 0.0

    def __call__(self, done: int, phase: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + REPORT_EVERY_S
            _say({"event": "progress", "done": self._before + done, "phase": phase})


def _say(event: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def _first_line() -> bytes:
    """Read without Python's buffer: a thread that holds its lock would hang the interpreter's end."""
    line = b""
    while not line.endswith(b"\n") and (piece := os.read(0, 65536)):
        line += piece
    return line


def _leave_with_parent() -> None:
    while os.read(0, 65536):
        pass
    # the part file is a true beginning at every moment, so leaving at once loses one buffer at most
    os._exit(0)


_JOBS = {"list": _list, "fetch": _fetch}

if __name__ == "__main__":
    sys.exit(main())
