"""The private start by the desktop application: key over the pipe, end with the pipe, folders added over the pipe.

Standard input carries JSON lines. The first is `{"key": ..., "models": [folder, ...]}`; further ones,
`{"models": [...]}`, name more folders that may be served. Only the parent can write there, so this is how the
application lets the engine see a folder; nothing that comes over HTTP can. When the input ends, so does the engine.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.errors import GannetError

_LONGEST_LINE = 1 << 20


class ParentPipe:
    """Standard input, line by line; read without Python's buffer, whose lock would hang the interpreter at its end."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._lines = self._read_lines()

    def first_line(self) -> tuple[str, list[Path]]:
        """Key and model folders. Raises `GannetError` if the parent sends something else."""
        message = _object(next(self._lines, b""))
        key = message.get("key")
        if not isinstance(key, str) or not key:
            raise GannetError('a private engine expects a line {"key": "..."} on its standard input')
        return key, _folders(message)

    def watch(self, on_folders: Callable[[list[Path]], None], on_end: Callable[[], None]) -> None:
        """Follow the pipe on a thread: folders as they come, and its end."""

        def follow() -> None:
            for line in self._lines:
                folders = _folders(_object(line))
                if folders:
                    on_folders(folders)
            on_end()

        threading.Thread(target=follow, name="parent-pipe", daemon=True).start()

    def _read_lines(self) -> Iterator[bytes]:
        rest = b""
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except OSError:
                return
            if not data or len(rest) > _LONGEST_LINE:
                return
            *lines, rest = (rest + data).split(b"\n")
            yield from lines


def _object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _folders(message: dict[str, Any]) -> list[Path]:
    folders = message.get("models")
    return [Path(folder) for folder in folders if isinstance(folder, str)] if isinstance(folders, list) else []
