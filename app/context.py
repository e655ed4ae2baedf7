"""What every page is given: the services of the program, made once in `app.main`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.actions import Actions
from app.chat.conversations import Conversations
from app.engine_client import EngineClient
from app.models.downloads.queue import DownloadQueue
from app.models.shelf import Shelf
from app.preferences import Preferences
from app.presets.store import PresetStore
from app.session import EngineSession
from app.store import Store
from app.telemetry.history import TelemetryHistory
from app.theme import Theme


class Frame(Protocol):
    """What a page may ask of the window around it."""

    def show_place(self, name: str) -> None:
        """Bring a place of `app.window.places` to the front."""
        ...

    def toast(self, text: str, button: str = "", slot: Callable[[], object] | None = None) -> None:
        """Say something for a few seconds, with one button at most (Undo)."""
        ...


@dataclass
class AppContext:
    """Services of the running program."""

    client: EngineClient
    session: EngineSession
    preferences: Preferences
    theme: Theme
    actions: Actions
    store: Store
    conversations: Conversations
    frame: Frame
    shelf: Shelf
    downloads: DownloadQueue
    presets: PresetStore
    history: TelemetryHistory
