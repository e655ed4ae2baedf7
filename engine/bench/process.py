"""Runs one arm in a child process: fresh memory, its own limit, whatever happens to it is a result."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
import time
from typing import Any

import gannet
from engine.bench.measuring import Task
from engine.bench.memory_group import MemoryGroup, NoMemoryGroupError

NO_LIMIT = "run without the memory limit"


def run(task: Task, limit_bytes: int | None) -> dict[str, Any]:
    """Fields of an `ArmRecord`. `limit_bytes` is for the process and its page cache; None: no limit."""
    notes: tuple[str, ...] = ()
    group: MemoryGroup | None = None
    if limit_bytes is not None:
        try:
            group = MemoryGroup(limit_bytes)
        except NoMemoryGroupError as error:
            notes = (f"{NO_LIMIT}: {error}",)
    with group or contextlib.nullcontext():
        values = _run_child(task, group)
        if group is not None:
            values |= {
                "limit_bytes": group.limit_bytes,
                "group_peak_bytes": group.peak_bytes(),
                "oom_kills": group.oom_kills(),
            }
    return values | {"notes": (*notes, *values.get("notes", ()))}


def _run_child(task: Task, group: MemoryGroup | None) -> dict[str, Any]:
    started = dataclasses.replace(task, started=time.time())
    child = subprocess.Popen(
        [*_program(), "bench", "--arm"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    try:
        if group is not None:
            group.add(child.pid)  # before it has a task, so before it uses memory worth counting
        out, err = child.communicate(json.dumps(dataclasses.asdict(started)) + "\n")
    except BaseException:
        child.kill()
        child.communicate()
        raise
    return _outcome(child.returncode, out, err)


def _outcome(code: int, out: str, err: str) -> dict[str, Any]:
    """What a child that ended with `code` measured, or the reason why it did not."""
    lines = out.strip().splitlines()
    if code == 0 and lines:
        with contextlib.suppress(ValueError):
            values = json.loads(lines[-1])
            if isinstance(values, dict):
                return values
    if code < 0:
        return {"error": f"ended by signal {-code}"}
    reason = (err.strip().splitlines() or [f"ended with code {code} and no figures"])[-1]
    return {"error": reason.removeprefix("gannet: ")}


def _program() -> list[str]:
    """How to start this program again: packaged, or as a module."""
    return gannet.packaged() or [sys.executable, "-m", "gannet"]
