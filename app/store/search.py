"""Full-text search over titles and messages."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

LIMIT = 200


@dataclass(frozen=True)
class SearchHit:
    """A conversation that matches, and a few words around the match ("" when it is the title)."""

    conversation: int
    excerpt: str


def search(connection: sqlite3.Connection, words: str) -> list[SearchHit]:
    """Conversations that contain every word of `words` (beginnings of words count), best first, each once."""
    terms = re.findall(r"\w+", words)
    if not terms:
        return []
    hits = {
        hit.conversation: hit for hit in reversed([*_in_titles(connection, terms), *_in_messages(connection, terms)])
    }
    return list(reversed(hits.values())) or _anywhere(connection, words.strip())


def _in_titles(connection: sqlite3.Connection, terms: list[str]) -> list[SearchHit]:
    condition = " AND ".join("title LIKE ? ESCAPE '\\'" for _ in terms)
    rows = connection.execute(
        f"SELECT id FROM conversation WHERE deleted IS NULL AND {condition} ORDER BY updated DESC LIMIT {LIMIT}",
        [f"%{_like(term)}%" for term in terms],
    )
    return [SearchHit(row[0], "") for row in rows]


def _in_messages(connection: sqlite3.Connection, terms: list[str]) -> list[SearchHit]:
    query = " ".join(f'"{term}"*' for term in terms)
    rows = connection.execute(
        "SELECT message.conversation, snippet(message_words, 0, '', '', '…', 10) FROM message_words"
        " JOIN message ON message.id = message_words.rowid"
        " JOIN conversation ON conversation.id = message.conversation"
        " WHERE message_words MATCH ? AND conversation.deleted IS NULL ORDER BY rank LIMIT ?",
        (query, LIMIT),
    )
    return [SearchHit(row[0], row[1]) for row in rows]


def _anywhere(connection: sqlite3.Connection, text: str) -> list[SearchHit]:
    """Substring search, for languages that do not put spaces between words."""
    rows = connection.execute(
        "SELECT DISTINCT message.conversation FROM message JOIN conversation ON conversation.id = message.conversation"
        " WHERE conversation.deleted IS NULL AND text LIKE ? ESCAPE '\\' ORDER BY updated DESC LIMIT ?",
        (f"%{_like(text)}%", LIMIT),
    )
    return [SearchHit(row[0], "") for row in rows]


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
