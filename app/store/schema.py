"""The database's tables and how an older file becomes this version."""

from __future__ import annotations

import sqlite3

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE conversation (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
        pinned INTEGER NOT NULL DEFAULT 0, deleted REAL, system TEXT NOT NULL DEFAULT '',
        sampling TEXT NOT NULL DEFAULT '{}', active INTEGER);
    CREATE TABLE message (
        id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
        parent INTEGER, role TEXT NOT NULL, text TEXT NOT NULL, thinking TEXT NOT NULL DEFAULT '',
        extra TEXT NOT NULL DEFAULT '{}', status TEXT NOT NULL, created REAL NOT NULL);
    CREATE INDEX message_conversation ON message(conversation, id);
    CREATE VIRTUAL TABLE message_words USING fts5(
        text, content='message', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
    CREATE TRIGGER message_added AFTER INSERT ON message BEGIN
        INSERT INTO message_words(rowid, text) VALUES (new.id, new.text); END;
    CREATE TRIGGER message_removed AFTER DELETE ON message BEGIN
        INSERT INTO message_words(message_words, rowid, text) VALUES ('delete', old.id, old.text); END;
    CREATE TRIGGER message_changed AFTER UPDATE OF text ON message BEGIN
        INSERT INTO message_words(message_words, rowid, text) VALUES ('delete', old.id, old.text);
        INSERT INTO message_words(rowid, text) VALUES (new.id, new.text); END;
    CREATE TABLE piece (
        id INTEGER PRIMARY KEY, message INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
        kind TEXT NOT NULL, text TEXT NOT NULL);
    CREATE INDEX piece_message ON piece(message, id);
    """,
    "CREATE TABLE program (version TEXT NOT NULL);",
)
"""Script at index n turns version n into n + 1; a script that was released is never edited."""

VERSION = len(MIGRATIONS)


class NewerStoreError(Exception):
    """The file was written by a later version of the program; `app.newer` says so before a store is opened."""


def connect(path: str) -> sqlite3.Connection:
    """A connection as the store wants it: WAL, foreign keys, rows by name, autocommit, damaged text replaced."""
    connection = sqlite3.connect(path, timeout=10, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to `VERSION`. Raises NewerStoreError, and sqlite3.DatabaseError for a damaged file."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise NewerStoreError(f"format {version}, written by a newer version of the program")
    for number in range(version, VERSION):
        connection.executescript(f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version={number + 1}; COMMIT;")


def writer(connection: sqlite3.Connection) -> str:
    """Version of the program that last wrote the file; "" when it is not known."""
    try:
        row = connection.execute("SELECT version FROM program").fetchone()
    except sqlite3.OperationalError:  # written before there was such a table
        return ""
    return str(row[0]) if row else ""


def sign(connection: sqlite3.Connection, version: str) -> None:
    """Note which version of the program writes the file."""
    if writer(connection) != version:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM program")
        connection.execute("INSERT INTO program(version) VALUES (?)", (version,))
        connection.execute("COMMIT")
