"""Saved conversation states: the latest in memory, older ones on disk, the oldest dropped.

Bounded in both places, least recently used first. Files are written by a thread of the store's own, so that saving
never delays an answer. A damaged file is put aside under `damaged/` and the log says so.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.sessions import session_file
from engine.sessions.reuse import Held, Tokens, superseded

_log = logging.getLogger(__name__)
_DAMAGED = "damaged"


@dataclass(slots=True)
class _Entry:
    held: Held
    state: bytes | None  # None: only on disk
    path: Path | None  # None: not (yet) on disk
    state_bytes: int


class SessionStore:
    """States of one model's conversations.

    Args:
        folder: where files go; None keeps everything in memory.
        fingerprint: names model and context settings; files with another one are not this store's.
        memory_bytes, disk_bytes: bounds; the disk's holds for all models together.
    """

    def __init__(self, folder: Path | None, fingerprint: str, memory_bytes: int, disk_bytes: int) -> None:
        self._folder = folder if disk_bytes > 0 else None
        self._fingerprint = fingerprint
        self._memory_bytes = memory_bytes
        self._disk_bytes = disk_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._writes: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        if self._folder is not None:
            self._open_folder(self._folder)
            self._writer = threading.Thread(target=self._write_loop, name="session-writer", daemon=True)
            self._writer.start()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def memory_used(self) -> int:
        """Bytes of states in memory."""
        with self._lock:
            return sum(len(entry.state) for entry in self._entries.values() if entry.state is not None)

    def held(self) -> list[Held]:
        """What is saved, least recently used first."""
        with self._lock:
            return [entry.held for entry in self._entries.values()]

    def put(self, tokens: Tokens, state: bytes, cuttable: bool) -> None:
        """Save a state; what it supersedes is dropped. A state larger than the memory bound goes to disk at once."""
        if not state:
            return
        held = Held(uuid.uuid4().hex, tokens, cuttable)
        with self._lock:
            self._drop([entry for entry in self._entries.values() if superseded(held, entry.held)])
            self._entries[held.key] = _Entry(held, state, None, len(state))
            self._shrink_memory()

    def get(self, key: str) -> bytes | None:
        """A state, which becomes the most recently used; None if it is gone or its file is damaged."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            if entry.state is not None:
                return entry.state
            path = entry.path
        state = None if path is None else self._read(path)
        with self._lock:
            if state is None:
                self._entries.pop(key, None)
            elif path is not None:
                self._writes.put(partial(_mark_used, path))
        return state

    def drop(self, key: str) -> None:
        """Forget a state that llama.cpp did not take."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._drop([entry])

    def persist(self) -> None:
        """Have everything that is only in memory written to disk; returns at once."""
        if self._folder is not None:
            with self._lock:
                waiting = [key for key, entry in self._entries.items() if entry.path is None]
            for key in waiting:
                self._writes.put(partial(self._write, key))

    def close(self) -> None:
        """Write what is only in memory and stop."""
        self.persist()
        if self._writer is not None:
            self._writes.put(None)
            self._writer.join()
            self._writer = None

    def _shrink_memory(self) -> None:
        used = sum(len(entry.state) for entry in self._entries.values() if entry.state is not None)
        for entry in list(self._entries.values()):
            if used <= self._memory_bytes:
                return
            if entry.state is None:
                continue
            used -= len(entry.state)
            if entry.path is not None:
                entry.state = None
            elif self._folder is not None:
                self._writes.put(partial(self._write, entry.held.key))
            else:
                del self._entries[entry.held.key]

    def _drop(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            del self._entries[entry.held.key]
            if entry.path is not None:
                self._writes.put(partial(entry.path.unlink, missing_ok=True))

    # The writer's thread: on a busy drive even removing a file may take seconds, which no answer should wait for

    def _write_loop(self) -> None:
        while (work := self._writes.get()) is not None:
            try:
                work()
            except OSError as error:
                _log.warning(
                    "conversations are kept in memory only from now on, since one could not be saved: %s", error
                )
                with self._lock:
                    self._folder = None
                    self._shrink_memory()

    def _write(self, key: str) -> None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.state is None or entry.path is not None or self._folder is None:
                return
            held, state = entry.held, entry.state
        path = self._folder / f"{key}{session_file.SUFFIX}"
        self._make_room(self._folder, len(state) + 4 * len(held.tokens))
        session_file.write(path, self._fingerprint, held.tokens, state, held.cuttable)
        with self._lock:
            if self._entries.get(key) is not entry:
                path.unlink(missing_ok=True)
                return
            entry.path = path
            self._shrink_memory()

    def _make_room(self, folder: Path, needed: int) -> None:
        paths = folder.glob(f"*{session_file.SUFFIX}")
        files = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in paths)
        used = sum(size for _, size, _ in files)
        for _, size, path in files:
            if used + needed <= self._disk_bytes:
                return
            path.unlink(missing_ok=True)
            used -= size
            with self._lock:
                for entry in list(self._entries.values()):
                    if entry.path == path:
                        entry.path = None
                        if entry.state is None:
                            del self._entries[entry.held.key]

    # Files of earlier runs

    def _open_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.part"):
            path.unlink(missing_ok=True)
        for path in sorted(folder.glob(f"*{session_file.SUFFIX}"), key=lambda path: path.stat().st_mtime):
            self._open_file(path)
        if self._entries:
            _log.info("%d saved conversations can go on", len(self._entries))

    def _open_file(self, path: Path) -> None:
        try:
            facts, tokens = session_file.read_header(path)
        except (session_file.SessionFileError, OSError) as error:
            self._put_aside(path, error)
            return
        if facts.fingerprint == self._fingerprint:
            held = Held(path.stem, tokens, facts.cuttable)
            self._entries[held.key] = _Entry(held, None, path, facts.state_bytes)

    def _read(self, path: Path) -> bytes | None:
        try:
            return session_file.read(path)[2]
        except (session_file.SessionFileError, OSError) as error:
            self._put_aside(path, error)
            return None

    def _put_aside(self, path: Path, error: Exception) -> None:
        aside = path.parent / _DAMAGED
        _log.warning("a saved conversation cannot be used and was put aside in %s: %s", aside, error)
        try:
            aside.mkdir(exist_ok=True)
            path.replace(aside / path.name)
        except OSError as failure:
            _log.warning("%s could not be put aside: %s", path.name, failure)


def _mark_used(path: Path) -> None:
    """The least recently used order of files is that of their times."""
    try:
        os.utime(path)
    except FileNotFoundError:  # dropped meanwhile
        pass
