"""Gets what can still be read out of a damaged conversations file, record by record."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_TABLES = {
    "conversation": ("id", "title", "created", "updated", "pinned", "deleted", "system", "sampling", "active"),
    "message": ("id", "conversation", "parent", "role", "text", "thinking", "extra", "status", "created"),
    "piece": ("id", "message", "kind", "text"),
}


def salvage(damaged: Path, target: sqlite3.Connection) -> tuple[int, int]:
    """Copy every readable record of file `damaged` into `target`; returns how many were saved and how many lost."""
    saved = lost = 0
    try:
        source = sqlite3.connect(f"{damaged.as_uri()}?mode=ro", uri=True)
        source.text_factory = lambda raw: raw.decode("utf-8", "replace")
    except sqlite3.Error:
        return 0, 0
    target.execute("PRAGMA foreign_keys=OFF")
    for table, columns in _TABLES.items():
        good, bad = _copy(source, target, table, columns)
        saved, lost = saved + good, lost + bad
    target.execute("PRAGMA foreign_keys=ON")
    source.close()
    return saved, lost


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, columns: tuple[str, ...]
) -> tuple[int, int]:
    saved = lost = 0
    names = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    for number in _ids(source, table):
        try:
            row = source.execute(f"SELECT {names} FROM {table} WHERE id=?", (number,)).fetchone()
            if row is not None:
                target.execute(f"INSERT INTO {table}({names}) VALUES ({marks})", row)
                saved += 1
        except sqlite3.Error:
            lost += 1
    return saved, lost


def _ids(source: sqlite3.Connection, table: str) -> list[int]:
    """Ids that can be read from either end, as a damaged page in the middle stops a scan."""
    found: set[int] = set()
    for order in ("ASC", "DESC"):
        try:
            for row in source.execute(f"SELECT id FROM {table} ORDER BY id {order}"):
                found.add(row[0])
        except sqlite3.Error:
            continue
    return sorted(found)
