"""Whose request is this, for fairness between clients on one machine with one key."""

from __future__ import annotations

from fastapi import Request

_HEADERS = ("x-client-id", "x-session-id", "session_id", "x-claude-code-session-id")


def client_name(http: Request) -> str:
    """A session's name if the client sends one, else its connection."""
    for header in _HEADERS:
        name = http.headers.get(header)
        if name:
            return name[:200]
    return "" if http.client is None else f"{http.client.host}:{http.client.port}"
