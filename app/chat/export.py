"""A conversation as a file (pure)."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from app.chat.requests import content_of
from app.store import Conversation, Message

FORMAT = "gannet-conversation"
FORMAT_VERSION = 1


def as_markdown(conversation: Conversation, path: Sequence[Message]) -> str:
    """One branch to read: a heading per message, thinking as a quote, attached files in full."""
    parts = [f"# {conversation.title}", f"*{_time(conversation.created)}*"]
    if conversation.system.strip():
        parts += ["## System prompt", conversation.system.strip()]
    for message in path:
        parts.append(f"## {'You' if message.role == 'user' else message.extra.get('model_title') or 'Answer'}")
        if message.thinking.strip():
            parts.append("\n".join(f"> {line}".rstrip() for line in message.thinking.strip().splitlines()))
        for call in message.extra.get("tool_calls") or ():
            parts.append(f"Calls the tool `{call.get('name', '')}`:\n\n```json\n{call.get('arguments', '')}\n```")
        if message.text or message.extra.get("attachments"):
            parts.append(content_of(message))
    return "\n\n".join(parts) + "\n"


def as_json(conversation: Conversation, messages: Sequence[Message]) -> str:
    """Everything the store has of a conversation, all branches."""
    content = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "conversation": dataclasses.asdict(conversation),
        "messages": [dataclasses.asdict(message) for message in messages],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def file_name(title: str) -> str:
    """A file name every system accepts."""
    words = re.sub(r'[<>:"/\\|?*\x00-\x1f]', " ", title)
    return " ".join(words.split()).strip(". ")[:80] or "chat"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
