"""What is sent to the engine for a conversation (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.store import Message, Sampling


def api_messages(system: str, path: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages of a branch as the chat API wants them. Empty answers (stopped before a word) are left out."""
    found: list[dict[str, Any]] = [{"role": "system", "content": system}] if system.strip() else []
    for message in path:
        if message.role == "assistant" and not message.text:
            continue
        found.append({"role": message.role, "content": content_of(message)})
    return found


def content_of(message: Message) -> str:
    """Attached files first, each fenced and named, then the words."""
    parts = [f"File `{one['name']}`:\n{_fenced(one['text'])}" for one in message.extra.get("attachments") or ()]
    return "\n\n".join([*parts, message.text]) if parts else message.text


def chat_body(system: str, path: Sequence[Message], sampling: Sampling, *, go_on: bool = False) -> dict[str, Any]:
    """Body of a chat request; `go_on` continues the last answer of `path` instead of beginning a new one."""
    body: dict[str, Any] = {"messages": api_messages(system, path), **sampling.request_fields()}
    if go_on:
        body["continue_final_message"] = True
    return body


def without_oldest(path: Sequence[Message], dropped: int) -> list[Message]:
    """`path` without its `dropped` oldest exchanges (a question and what followed it); the last question stays."""
    starts = [number for number, message in enumerate(path) if message.role == "user"]
    keep_from = starts[min(dropped, len(starts) - 1)] if starts and dropped else 0
    return list(path[keep_from:])


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
