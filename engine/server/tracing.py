"""Turning the routing trace of the loaded model on and off; traces lie in the engine's own folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.loader import LoadedModel
from engine.server.errors import ApiError, bad_request
from engine.trace.live import LiveTraceError, TraceExistsError, TraceStatus

# What no file system of ours takes or reads as more than a name; a name of dots is another folder.
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]|^\.|[. ]$')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_MOST_NAME_BYTES = 200


def trace_path(folder: Path, name: str) -> Path:
    """The file that a request names, in `folder`. Raises `ApiError` 400 for what is no plain file name."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        size = 0
    if not 0 < size <= _MOST_NAME_BYTES or _UNSAFE.search(name) or _RESERVED.match(name):
        raise bad_request("a trace is named by a plain file name of at most 200 bytes", param="path")
    return folder / name


def start(loaded: LoadedModel, path: Path, max_bytes: int) -> TraceStatus:
    """Record the routing of `loaded` to `path`. Raises `ApiError` 409 where that cannot be."""
    if not loaded.streaming:
        raise ApiError(409, "this model's experts are not streamed, so there is no routing to trace", "not_streaming")
    try:
        return loaded.start_trace(path, max_bytes)
    except TraceExistsError as error:
        raise ApiError(409, str(error), "trace_exists") from error
    except LiveTraceError as error:
        raise ApiError(409, str(error), "trace_failed") from error


def as_json(status: TraceStatus | None) -> dict[str, Any]:
    """The answer of the trace routes; `path` is the file being written, `file` the latest one."""
    if status is None:
        return {"path": None, "state": "off"}
    return {
        "path": str(status.path) if status.state == "recording" else None,
        "file": str(status.path),
        "state": status.state,
        "tokens": status.tokens,
        "bytes": status.bytes,
        "max_bytes": status.max_bytes,
        "dropped": status.dropped,
        "error": status.error,
    }
