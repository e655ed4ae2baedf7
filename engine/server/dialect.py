"""Which API a request speaks, for the shape of its errors."""

from __future__ import annotations

from engine.server.errors import Dialect


def dialect_of(path: str, says_anthropic: bool) -> Dialect:
    """The dialect of `path`; `says_anthropic`: the request has Anthropic's version header (for shared routes)."""
    if path.startswith("/v1/messages"):
        return "anthropic"
    if path.startswith("/v1/"):
        return "anthropic" if says_anthropic else "openai"
    return "engine"
