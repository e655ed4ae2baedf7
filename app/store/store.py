"""The conversation store: everything the window reads and writes, on the window's thread."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

from app.files import put_aside
from app.store.journal import Journal, fold_pieces
from app.store.records import Conversation, Message, Sampling, conversation_from_row, message_from_row
from app.store.salvage import salvage
from app.store.schema import connect, migrate, sign
from app.store.search import SearchHit, search
from app.version import program_version

NEW_TITLE = ""
"""Title of a conversation that has none yet; the window shows "New chat"."""


class Store:
    """Conversations and their messages.

    Attributes: `problems`, lines about records that could not be read; `journal`, where received pieces go.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[str] = []
        self._db = self._open()
        fold_pieces(self._db)
        self._db.execute("DELETE FROM conversation WHERE deleted IS NOT NULL")
        self.journal = Journal(path)

    def close(self) -> None:
        """Write what is still to be written and close the file."""
        self.journal.close()
        self._db.close()

    # -- conversations -----------------------------------------------------------------

    def conversations(self) -> list[Conversation]:
        """Every conversation, pinned first, then the most recently used; broken records are skipped and reported."""
        rows = self._db.execute(
            "SELECT * FROM conversation WHERE deleted IS NULL ORDER BY pinned DESC, updated DESC, id DESC"
        )
        found = []
        for row in rows:
            try:
                found.append(conversation_from_row(row))
            except (ValueError, TypeError) as problem:
                self._report(f"conversation {row['id']}: {problem}")
        return found

    def conversation(self, number: int) -> Conversation | None:
        """One conversation, None when there is none (or it is broken)."""
        row = self._db.execute("SELECT * FROM conversation WHERE id=? AND deleted IS NULL", (number,)).fetchone()
        try:
            return conversation_from_row(row) if row else None
        except (ValueError, TypeError) as problem:
            self._report(f"conversation {number}: {problem}")
            return None

    def new_conversation(self, system: str = "", sampling: Sampling | None = None) -> Conversation:
        """Begin a conversation."""
        now = time.time()
        cursor = self._db.execute(
            "INSERT INTO conversation(title, created, updated, system, sampling) VALUES (?,?,?,?,?)",
            (NEW_TITLE, now, now, system, _sampling_json(sampling or Sampling())),
        )
        return Conversation(int(cursor.lastrowid or 0), NEW_TITLE, now, now, False, system, sampling or Sampling())

    def rename(self, number: int, title: str) -> None:
        """Give a conversation a title."""
        self._db.execute("UPDATE conversation SET title=? WHERE id=?", (title, number))

    def pin(self, number: int, pinned: bool) -> None:
        """Keep a conversation at the top, or not."""
        self._db.execute("UPDATE conversation SET pinned=? WHERE id=?", (int(pinned), number))

    def set_options(self, number: int, system: str, sampling: Sampling) -> None:
        """System prompt and sampling of a conversation."""
        self._db.execute(
            "UPDATE conversation SET system=?, sampling=? WHERE id=?", (system, _sampling_json(sampling), number)
        )

    def delete(self, number: int) -> None:
        """Take a conversation away; `undelete` brings it back until the program ends."""
        self._db.execute("UPDATE conversation SET deleted=? WHERE id=?", (time.time(), number))

    def undelete(self, number: int) -> None:
        """Bring a deleted conversation back."""
        self._db.execute("UPDATE conversation SET deleted=NULL WHERE id=?", (number,))

    def search(self, words: str) -> list[SearchHit]:
        """Conversations whose title or any message contains all `words`, best first."""
        return search(self._db, words)

    # -- messages ----------------------------------------------------------------------

    def messages(self, conversation: int) -> list[Message]:
        """All messages of all branches, oldest first; broken records are skipped and reported."""
        found = []
        for row in self._db.execute("SELECT * FROM message WHERE conversation=? ORDER BY id", (conversation,)):
            try:
                found.append(message_from_row(row))
            except (ValueError, TypeError) as problem:
                self._report(f"message {row['id']} of conversation {conversation}: {problem}")
        return found

    def add_message(
        self,
        conversation: int,
        parent: int | None,
        role: str,
        text: str = "",
        *,
        extra: dict[str, Any] | None = None,
        status: str = "complete",
    ) -> Message:
        """Append a message after `parent` and show its branch."""
        now = time.time()
        with self._transaction():
            cursor = self._db.execute(
                "INSERT INTO message(conversation, parent, role, text, extra, status, created) VALUES (?,?,?,?,?,?,?)",
                (conversation, parent, role, text, json.dumps(extra or {}), status, now),
            )
            number = int(cursor.lastrowid or 0)
            self._db.execute("UPDATE conversation SET active=?, updated=? WHERE id=?", (number, now, conversation))
        return Message(number, conversation, parent, role, text, "", dict(extra or {}), status, now)

    def finish_message(self, message: Message) -> None:
        """Write a received message as it is now; its journal pieces are no longer needed."""
        self.journal.drain()
        with self._transaction():
            self._db.execute(
                "UPDATE message SET text=?, thinking=?, extra=?, status=? WHERE id=?",
                (message.text, message.thinking, json.dumps(message.extra), message.status, message.id),
            )
            self._db.execute("DELETE FROM piece WHERE message=?", (message.id,))

    def reopen_message(self, message: Message) -> None:
        """Mark a message as being received again (Continue)."""
        message.status = "partial"
        self._db.execute("UPDATE message SET status='partial' WHERE id=?", (message.id,))

    def set_active(self, conversation: int, message: int | None) -> None:
        """Show the branch that ends with `message`."""
        self._db.execute("UPDATE conversation SET active=? WHERE id=?", (message, conversation))

    # -- the file ----------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        try:
            return self._checked()
        except sqlite3.DatabaseError as problem:
            if isinstance(problem, sqlite3.OperationalError) and "locked" in str(problem):
                raise
            aside = put_aside(self._path)
            for ending in ("-wal", "-shm"):
                beside = self._path.with_name(self._path.name + ending)
                if beside.exists():
                    beside.replace(aside.with_name(aside.name + ending))
            connection = self._checked()
            saved, lost = salvage(aside, connection)
            self._report(
                f"the file was damaged ({problem}); it is kept as {aside.name}; {saved} records saved, {lost} lost"
            )
            return connection

    def _checked(self) -> sqlite3.Connection:
        connection = connect(str(self._path))
        try:
            migrate(connection)
            sign(connection, program_version())
            connection.execute("SELECT count(*) FROM conversation").fetchone()
            connection.execute("SELECT max(id) FROM message").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _transaction(self) -> _Transaction:
        return _Transaction(self._db)

    def _report(self, line: str) -> None:
        if line not in self.problems:
            self.problems.append(line)


class _Transaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        self._connection.execute("ROLLBACK" if kind else "COMMIT")


def _sampling_json(sampling: Sampling) -> str:
    return json.dumps({name: value for name, value in dataclasses.asdict(sampling).items() if value is not None})
