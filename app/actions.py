"""Every action of the program, declared once: name, text, menu, shortcut. Menus, buttons and the shortcut list follow.

A page adds what an action does with `actions.connect("chat.new", slot)`; an action nobody connected is disabled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.i18n import tr


@dataclass(frozen=True)
class ActionSpec:
    """One action. `shortcut` is Qt's portable text ("Ctrl+N", on macOS Ctrl means Command)."""

    name: str
    text: str
    menu: str
    shortcut: str
    tip: str = ""
    icon: str = ""
    checkable: bool = False
    separated: bool = False
    """Draw a line above it in its menu."""


MENUS: tuple[tuple[str, str], ...] = (
    ("chat", "&Chat"), ("edit", "&Edit"), ("answer", "&Answer"),
    ("model", "&Model"), ("view", "&View"), ("help", "&Help"),
)  # fmt: skip

ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("chat.new", "&New chat", "chat", "Ctrl+N", icon="plus"),
    ActionSpec("chat.search", "&Search chats", "chat", "Ctrl+K", icon="search"),
    ActionSpec("chat.rename", "&Rename chat", "chat", "F2", icon="edit"),
    ActionSpec("chat.pin", "&Pin chat", "chat", "Ctrl+Shift+P", icon="pin"),
    ActionSpec("chat.previous", "Pre&vious chat", "chat", "Ctrl+PgUp"),
    ActionSpec("chat.next", "Ne&xt chat", "chat", "Ctrl+PgDown"),
    ActionSpec("chat.options", "S&ystem prompt and sampling", "chat", "Ctrl+Shift+I", icon="sliders"),
    ActionSpec("chat.export_markdown", "Export as &Markdown…", "chat", "Ctrl+Shift+E", icon="export", separated=True),
    ActionSpec("chat.export_json", "Export as &JSON…", "chat", "Ctrl+Shift+J", icon="export"),
    ActionSpec("chat.delete", "&Delete chat", "chat", "Ctrl+Shift+Backspace", icon="trash", separated=True),
    ActionSpec("app.quit", "&Quit", "chat", "Ctrl+Q", separated=True),
    ActionSpec("edit.attach", "&Attach text files…", "edit", "Ctrl+U", icon="attach"),
    ActionSpec("edit.focus", "Go to the &message box", "edit", "Ctrl+L"),
    ActionSpec("edit.last", "&Edit the last message", "edit", "Ctrl+Up", icon="edit"),
    ActionSpec("answer.stop", "&Stop", "answer", "Esc", icon="stop"),
    ActionSpec("answer.regenerate", "&Regenerate", "answer", "Ctrl+R", icon="refresh"),
    ActionSpec("answer.continue", "&Continue", "answer", "Ctrl+Shift+Return", icon="continue"),
    ActionSpec("answer.copy", "Co&py the last answer", "answer", "Ctrl+Shift+C", icon="copy"),
    ActionSpec("answer.thinking", "Open or close the last &thinking", "answer", "Ctrl+T", icon="thinking"),
    ActionSpec("answer.earlier", "Go to the &earlier message", "answer", "Alt+Up", separated=True),
    ActionSpec("answer.later", "Go to the &later message", "answer", "Alt+Down"),
    ActionSpec("model.pick", "&Pick a model", "model", "Ctrl+M", icon="models"),
    ActionSpec("model.preset", "P&ick a preset", "model", "Ctrl+Shift+M", icon="sliders"),
    ActionSpec("model.cancel", "&Cancel loading", "model", "Ctrl+.", icon="close"),
    ActionSpec("model.tune", "&Tune for this computer…", "model", "Ctrl+Shift+T", icon="wand"),
    ActionSpec("engine.restart", "&Restart the engine", "model", "Ctrl+Shift+R", icon="refresh", separated=True),
    ActionSpec("view.chat", "&Chat", "view", "Ctrl+1", icon="chat"),
    ActionSpec("view.models", "&Models", "view", "Ctrl+2", icon="models"),
    ActionSpec("view.telemetry", "&Telemetry", "view", "Ctrl+3", icon="telemetry"),
    ActionSpec("view.server", "&Server", "view", "Ctrl+4", icon="server"),
    ActionSpec("view.settings", "S&ettings", "view", "Ctrl+,", icon="settings"),
    ActionSpec("view.sidebar", "Si&debar", "view", "Ctrl+B", icon="sidebar", checkable=True, separated=True),
    ActionSpec("view.panel", "Engine &panel", "view", "Ctrl+E", icon="panel", checkable=True),
    ActionSpec("view.larger", "&Larger text", "view", "Ctrl++", separated=True),
    ActionSpec("view.smaller", "Smalle&r text", "view", "Ctrl+-"),
    ActionSpec("view.fullscreen", "&Full screen", "view", "F11", checkable=True),
    ActionSpec("help.shortcuts", "&Keyboard shortcuts", "help", "F1", icon="info"),
    ActionSpec("help.diagnostics", "Save &diagnostics…", "help", "Ctrl+Shift+D", icon="file"),
    ActionSpec("help.updates", "Check for a &newer release…", "help", "Ctrl+Shift+U", icon="refresh", separated=True),
    ActionSpec("help.about", "&About Gannet", "help", "Shift+F1"),
)


class Actions:
    """The Qt actions made from `ACTIONS`, owned by the main window."""

    def __init__(self, window: QWidget) -> None:
        self._actions: dict[str, QAction] = {}
        self._connected: set[str] = set()
        for spec in ACTIONS:
            action = QAction(tr(spec.text), window)
            action.setObjectName(spec.name)
            action.setShortcut(QKeySequence(spec.shortcut))
            action.setCheckable(spec.checkable)
            action.setEnabled(False)
            if spec.tip:
                action.setToolTip(tr(spec.tip))
            window.addAction(action)
            self._actions[spec.name] = action

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def connect(self, name: str, slot: Callable[..., object]) -> QAction:
        """Make action `name` do `slot` and enable it. Raises KeyError for an undeclared name."""
        action = self._actions[name]
        action.triggered.connect(slot)
        action.setEnabled(True)
        self._connected.add(name)
        return action

    def connected(self, name: str) -> bool:
        """Whether action `name` does anything."""
        return name in self._connected

    def fill(self, bar: QMenuBar) -> None:
        """All menus, in the order of the declarations."""
        for key, title in MENUS:
            menu = bar.addMenu(tr(title))
            self._fill_menu(menu, key)

    def _fill_menu(self, menu: QMenu, key: str) -> None:
        for spec in ACTIONS:
            if spec.menu == key:
                if spec.separated:
                    menu.addSeparator()
                menu.addAction(self._actions[spec.name])


def plain_text(text: str) -> str:
    """An action's text without the mnemonic mark and the dots, for buttons, tooltips and accessible names."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")
