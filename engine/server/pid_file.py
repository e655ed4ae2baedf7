"""Pid files: an engine whose window crashed without taking it along is recognized at the next start and ended."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import psutil

_log = logging.getLogger(__name__)
_END_SECONDS = 3.0


@contextlib.contextmanager
def registered(folder: Path) -> Iterator[None]:
    """While open, a file in `folder` says that this process is an engine and whose. Orphans found there are ended."""
    folder.mkdir(parents=True, exist_ok=True)
    end_orphans(folder)
    path = folder / f"{os.getpid()}.json"
    own, parent = psutil.Process(), os.getppid()
    facts = {
        "pid": own.pid,
        "started": own.create_time(),
        "parent": parent,
        "parent_started": _started(parent),
    }
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(facts), encoding="utf-8")
    temporary.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def end_orphans(folder: Path) -> list[int]:
    """End the engines registered in `folder` whose parent is gone; returns their process ids."""
    ended = []
    for path in folder.glob("*.json"):
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            pid, started = int(facts["pid"]), float(facts["started"])
            parent, parent_started = int(facts["parent"]), facts["parent_started"]
        except (OSError, ValueError, KeyError, TypeError):
            path.unlink(missing_ok=True)
            continue
        if _started(pid) != started:  # gone, and its number perhaps another's
            path.unlink(missing_ok=True)
        elif parent_started is None or _started(parent) != parent_started:
            _end(pid)
            path.unlink(missing_ok=True)
            ended.append(pid)
    return ended


def _started(pid: int) -> float | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def _end(pid: int) -> None:
    _log.warning("an engine of an earlier crash still runs (process %d); ending it", pid)
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except psutil.TimeoutExpired:
            process.kill()
