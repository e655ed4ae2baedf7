"""Refuses files that a later version of the program wrote, before anything of the user's is opened for writing.

An older program that went on would lose what it does not know. So every file of the user's carries the number of its
format and the version of the program that wrote it; `refuse_newer` only reads.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

from app import preferences
from app.i18n import tr
from app.models import library_index
from app.models.downloads import queue
from app.presets import store as presets
from app.store import schema
from app.version import WRITER_KEY, program_version

DATABASE = "conversations.sqlite"


class NewerFileError(Exception):
    """A file was written by a later version; the message is for the user: both versions and what to do."""


def refuse_newer(config: Path, data: Path) -> None:
    """Raise `NewerFileError` if a file of the program in its two folders is of a later format than this one reads."""
    for path, known in (
        (config / "preferences.json", preferences.VERSION),
        (config / "presets.json", presets.VERSION),
        (data / "library.json", library_index.VERSION),
        (data / "downloads.json", queue.VERSION),
    ):
        found, writer = _of_json(path)
        if found > known:
            raise NewerFileError(_words(path, writer))
    found, writer = _of_database(data / DATABASE)
    if found > schema.VERSION:
        raise NewerFileError(_words(data / DATABASE, writer))


def _words(path: Path, writer: str) -> str:
    ours = program_version()
    if not writer:
        return tr(
            "{path} was saved by a later version of Gannet than this one ({ours}). Nothing was changed. Install the"
            " later version again to go on."
        ).format(path=path, ours=ours)
    return tr(
        "{path} was saved by Gannet {theirs}; this is Gannet {ours}, which cannot read it. Nothing was changed."
        " Install Gannet {theirs} or later to go on."
    ).format(path=path, theirs=writer, ours=ours)


def _of_json(path: Path) -> tuple[int, str]:
    """Format and writer; (0, "") for a file that is not there or cannot be read, which its reader deals with."""
    try:
        content = json.loads(path.read_bytes())
        found = content["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0, ""
    sound = isinstance(found, int) and not isinstance(found, bool)
    return (found, str(content.get(WRITER_KEY) or "")) if sound else (0, "")


def _of_database(path: Path) -> tuple[int, str]:
    """The same of the database, opened for reading; where no log is beside it, without even a lock."""
    if not path.exists():
        return 0, ""
    log = path.with_name(path.name + "-wal")
    alone = not log.exists() or log.stat().st_size == 0
    address = f"{path.absolute().as_uri()}?{'immutable=1' if alone else 'mode=ro'}"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            found = int(connection.execute("PRAGMA user_version").fetchone()[0])
            return found, schema.writer(connection)
    except (sqlite3.Error, OSError):
        return 0, ""
