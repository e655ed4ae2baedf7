"""The journal of a streaming answer: each received piece is on the disk within `FLUSH_SECONDS`, at a constant cost.

Threads: one writer, named "chat-journal", with a connection of its own; it alone waits for the disk, so the window
never does. Lock: none but the queue's.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from pathlib import Path

from app.store.schema import connect

FLUSH_SECONDS = 0.4


class Journal:
    """Receives pieces from the window's thread and writes them in batches.

    Attributes: `error`, the last reason a batch could not be written ("" while all is well): the pieces are kept and
    written with the next batch.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: queue.SimpleQueue[tuple[int, str, str] | threading.Event | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.error = ""

    def append(self, message: int, kind: str, text: str) -> None:
        """Take a piece of `message`; `kind` is "text" or "thinking". Returns at once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="chat-journal", daemon=True)
            self._thread.start()
        self._queue.put((message, kind, text))

    def drain(self, timeout: float = 10.0) -> bool:
        """Wait until everything taken so far is written; False when it is not after `timeout` seconds."""
        if self._thread is None:
            return True
        written = threading.Event()
        self._queue.put(written)
        return written.wait(timeout)

    def close(self) -> None:
        """Write the rest and end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(10)

    def _write(self) -> None:
        connection = connect(str(self._path))
        connection.execute("PRAGMA synchronous=FULL")
        pending: list[tuple[int, str, str]] = []
        going = True
        while going:
            waiting, going = self._collect(pending)
            if pending and self._store(connection, pending):
                pending.clear()
            for event in waiting:
                event.set()
        connection.close()

    def _collect(self, pending: list[tuple[int, str, str]]) -> tuple[list[threading.Event], bool]:
        """Gather pieces until the batch is due, somebody waits, or the journal closes."""
        deadline: float | None = time.monotonic() + FLUSH_SECONDS if pending else None
        while True:
            try:
                item = self._queue.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return [], True
            if item is None:
                return [], False
            if isinstance(item, threading.Event):
                return [item], True
            pending.append(item)
            deadline = deadline or time.monotonic() + FLUSH_SECONDS

    def _store(self, connection: sqlite3.Connection, pending: list[tuple[int, str, str]]) -> bool:
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO piece(message, kind, text) VALUES (?,?,?)", _joined(pending))
            connection.execute("COMMIT")
        except sqlite3.Error as problem:
            self.error = str(problem)
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            return False
        self.error = ""
        return True


def fold_pieces(connection: sqlite3.Connection) -> int:
    """Put the pieces of answers that were cut off (program or machine ended) into their messages; returns how many."""
    numbers = [row[0] for row in connection.execute("SELECT DISTINCT message FROM piece ORDER BY message")]
    for number in numbers:
        parts = {"text": "", "thinking": ""}
        for kind, text in connection.execute("SELECT kind, text FROM piece WHERE message=? ORDER BY id", (number,)):
            if kind in parts:
                parts[kind] += text
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "UPDATE message SET text = text || ?, thinking = thinking || ?, status='partial' WHERE id=?",
            (parts["text"], parts["thinking"], number),
        )
        connection.execute("DELETE FROM piece WHERE message=?", (number,))
        connection.execute("COMMIT")
    return len(numbers)


def _joined(pieces: list[tuple[int, str, str]]) -> list[tuple[int, str, str]]:
    """Neighbouring pieces of the same message and kind as one row."""
    rows: list[tuple[int, str, str]] = []
    for message, kind, text in pieces:
        if rows and rows[-1][:2] == (message, kind):
            rows[-1] = (message, kind, rows[-1][2] + text)
        else:
            rows.append((message, kind, text))
    return rows
