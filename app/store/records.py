"""What the store keeps, as plain values (pure)."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from dataclasses import dataclass, field
from typing import Any

ROLES = ("user", "assistant", "tool")
STATUSES = ("complete", "partial", "stopped", "failed")


@dataclass(frozen=True)
class Sampling:
    """How the next token is picked; None leaves it to the model or the engine."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def request_fields(self) -> dict[str, Any]:
        """The fields that are set, as the chat API names them."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}


@dataclass
class Conversation:
    """One chat. Times are seconds since 1970; `active` is the message at the end of the branch that is shown."""

    id: int
    title: str
    created: float
    updated: float
    pinned: bool = False
    system: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    active: int | None = None


@dataclass
class Message:
    """One message.

    Attributes: `parent` the message it answers or follows (None: the first); `status` "complete", "partial" (the
    program ended while it was received), "stopped" (by the user) or "failed"; `extra` everything else as JSON:
    `tool_calls`, `attachments` [{name, text}], `figures` (of the engine), `model`, `finish_reason`, `problem`.
    """

    id: int
    conversation: int
    parent: int | None
    role: str
    text: str
    thinking: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    status: str = "complete"
    created: float = 0.0


def conversation_from_row(row: sqlite3.Row) -> Conversation:
    """Raises ValueError for a row that makes no sense."""
    known = {one.name for one in dataclasses.fields(Sampling)}
    sampling = _json_object(row["sampling"])
    if not isinstance(row["title"], str) or not isinstance(row["updated"], float):
        raise ValueError("title or time is damaged")
    return Conversation(
        id=row["id"],
        title=row["title"],
        created=float(row["created"]),
        updated=row["updated"],
        pinned=bool(row["pinned"]),
        system=str(row["system"]),
        sampling=Sampling(**{name: value for name, value in sampling.items() if name in known}),
        active=row["active"],
    )


def message_from_row(row: sqlite3.Row) -> Message:
    """Raises ValueError for a row that makes no sense."""
    if row["role"] not in ROLES or row["status"] not in STATUSES:
        raise ValueError(f"role {row['role']!r}, status {row['status']!r}")
    if not isinstance(row["text"], str) or not isinstance(row["thinking"], str):
        raise ValueError("text is damaged")
    return Message(
        id=row["id"],
        conversation=row["conversation"],
        parent=row["parent"],
        role=row["role"],
        text=row["text"],
        thinking=row["thinking"],
        extra=_json_object(row["extra"]),
        status=row["status"],
        created=float(row["created"]),
    )


def _json_object(text: str) -> dict[str, Any]:
    content = json.loads(text)
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    return content
