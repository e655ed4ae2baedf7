"""What the Chat menu does with conversations: new, search, rename, pin, export, delete with undo."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.chat.export import as_json, as_markdown, file_name
from app.context import AppContext
from app.files import atomic_write
from app.i18n import tr
from app.store import Tree
from app.window.sidebar import Sidebar


class ChatActions(QObject):
    """Connects the actions whose names begin with "chat."."""

    def __init__(self, context: AppContext, sidebar: Sidebar, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._sidebar, self._window = context, sidebar, window
        actions = context.actions
        actions.connect("chat.new", context.conversations.begin)
        actions.connect("chat.search", self._search)
        actions.connect("chat.rename", self._rename)
        actions.connect("chat.pin", self._pin)
        actions.connect("chat.previous", lambda: self._step(-1))
        actions.connect("chat.next", lambda: self._step(1))
        actions.connect("chat.export_markdown", lambda: self._export("md"))
        actions.connect("chat.export_json", lambda: self._export("json"))
        actions.connect("chat.delete", self._delete)
        context.conversations.opened.connect(self._update)
        context.conversations.listed.connect(self._update)
        self._update()

    def export_to(self, path: Path) -> None:
        """Write the conversation in front to `path`, as JSON (all branches) or Markdown (the branch that is shown)."""
        current = self._context.conversations.current
        assert current is not None
        messages = self._context.store.messages(current.id)
        if path.suffix == ".json":
            text = as_json(current, messages)
        else:
            text = as_markdown(current, Tree(messages).path(current.active))
        atomic_write(path, text.encode("utf-8"))

    def _update(self) -> None:
        current = self._context.conversations.current
        for name in ("rename", "pin", "export_markdown", "export_json", "delete"):
            self._context.actions[f"chat.{name}"].setEnabled(current is not None)
        pinned = current is not None and current.pinned
        self._context.actions["chat.pin"].setText(tr("Un&pin chat") if pinned else tr("&Pin chat"))

    def _search(self) -> None:
        if self._sidebar.narrow:
            self._context.actions["view.sidebar"].trigger()
        self._sidebar.search.setFocus()
        self._sidebar.search.selectAll()

    def _rename(self) -> None:
        if self._sidebar.narrow:
            self._context.actions["view.sidebar"].trigger()
        self._sidebar.list.rename_current()

    def _pin(self) -> None:
        current = self._context.conversations.current
        if current is not None:
            self._context.conversations.pin(current.id, not current.pinned)

    def _step(self, by: int) -> None:
        number = self._context.conversations.neighbour(by)
        if number is not None:
            self._context.conversations.open(number)

    def _delete(self) -> None:
        current = self._context.conversations.current
        if current is None:
            return
        self._context.conversations.delete(current.id)
        text = tr("“{title}” was deleted.").format(title=current.title or tr("New chat"))
        self._context.frame.toast(text, tr("Undo"), lambda: self._context.conversations.undelete(current.id))

    def _export(self, ending: str) -> None:
        current = self._context.conversations.current
        if current is None:
            return
        name, _ = QFileDialog.getSaveFileName(self._window, tr("Export chat"), f"{file_name(current.title)}.{ending}")
        if not name:
            return
        path = Path(name) if Path(name).suffix else Path(f"{name}.{ending}")
        try:
            self.export_to(path)
        except OSError as problem:
            self._context.frame.toast(tr("Could not write {name}: {why}").format(name=path.name, why=problem.strerror))
        else:
            self._context.frame.toast(tr("Saved as {name}.").format(name=path.name))
