"""The five places of the window, declared once. A place is a QWidget made with an `AppContext` on first visit.

A place may have methods `shown()` and `hidden()`: called when it comes to the front and when it leaves, so that nothing
is drawn or polled for a page nobody sees. A method `bottom_height()` says how many pixels at its bottom toasts must not
cover.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from app.context import AppContext


@dataclass(frozen=True)
class Place:
    """`title` is a source text for `tr`; `factory` is `module:class`, imported on first visit."""

    name: str
    title: str
    icon: str
    factory: str

    def make(self, context: AppContext) -> QWidget:
        """The page's widget."""
        module, _, attribute = self.factory.partition(":")
        widget: QWidget = getattr(importlib.import_module(module), attribute)(context)
        return widget


PLACES: tuple[Place, ...] = (
    Place("chat", "Chat", "chat", "app.chat.page:ChatPage"),
    Place("models", "Models", "models", "app.models.page:ModelsPage"),
    Place("telemetry", "Telemetry", "telemetry", "app.telemetry.page:TelemetryPage"),
    Place("server", "Server", "server", "app.server_page.page:ServerPage"),
    Place("settings", "Settings", "settings", "app.settings.page:SettingsPage"),
)
