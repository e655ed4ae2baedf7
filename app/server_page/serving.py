"""The local server's settings: whether other programs may use the engine, where, and with which key. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.engine_client.door import Serving

DEFAULT_PORT = 8080
LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"


@dataclass(frozen=True)
class ServerSettings:
    """As stored in the preferences: `on`, `port`, `everywhere` (other computers too), `key`."""

    on: bool = False
    port: int = DEFAULT_PORT
    everywhere: bool = False
    key: str = ""

    @classmethod
    def from_preferences(cls, stored: Mapping[str, Any]) -> ServerSettings:
        """What is stored; a value that makes no sense falls back to the default."""
        port = stored.get("port")
        sound = isinstance(port, int) and not isinstance(port, bool) and 1 <= port <= 65535
        return cls(
            on=stored.get("on") is True,
            port=port if sound and port is not None else DEFAULT_PORT,
            everywhere=stored.get("everywhere") is True,
            key=str(stored.get("key") or ""),
        )

    def to_preferences(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"on": self.on, "port": self.port, "everywhere": self.everywhere, "key": self.key}

    @property
    def address(self) -> str:
        """The base address that OpenAI clients on this computer use."""
        return f"http://127.0.0.1:{self.port}/v1"


def new_key() -> str:
    """A key that cannot be guessed, recognisable in a client's settings."""
    return f"gannet-{secrets.token_urlsafe(24)}"


def serving_from(stored: Mapping[str, Any]) -> Serving | None:
    """Where the engine is to listen; None while the server is off."""
    settings = ServerSettings.from_preferences(stored)
    if not settings.on or not settings.key:
        return None
    return Serving(EVERYWHERE if settings.everywhere else LOOPBACK, settings.port, settings.key)
