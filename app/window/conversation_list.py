"""The list of conversations in the sidebar: headings by day, search results, renaming in place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QListView, QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.context import AppContext
from app.i18n import tr
from app.window.days import heading

Index = QModelIndex | QPersistentModelIndex
NUMBER = Qt.ItemDataRole.UserRole
EXCERPT = Qt.ItemDataRole.UserRole + 1
PINNED = Qt.ItemDataRole.UserRole + 2


@dataclass(frozen=True)
class Row:
    """A heading (`number` 0) or a conversation."""

    number: int
    title: str
    excerpt: str = ""
    pinned: bool = False


class ConversationModel(QAbstractListModel):
    """Rows of the list."""

    def __init__(self, context: AppContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._rows: list[Row] = []
        self._words = ""

    def search(self, words: str) -> None:
        """Show what contains `words`; everything when empty."""
        self._words = words.strip()
        self.refresh()

    def refresh(self) -> None:
        """Read the list again."""
        rows = self._found() if self._words else self._by_day()
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def row_of(self, number: int) -> int:
        """Row of a conversation, -1 when it is not shown."""
        return next((at for at, row in enumerate(self._rows) if row.number == number), -1)

    def _by_day(self) -> list[Row]:
        rows: list[Row] = []
        last, now = "", datetime.now()
        for one in self._context.store.conversations():
            title = heading(one.updated, one.pinned, now)
            if title != last:
                rows.append(Row(0, title))
                last = title
            rows.append(Row(one.id, one.title or tr("New chat"), "", one.pinned))
        return rows

    def _found(self) -> list[Row]:
        titles = {one.id: one for one in self._context.store.conversations()}
        hits = [hit for hit in self._context.store.search(self._words) if hit.conversation in titles]
        head = Row(0, tr("Found") if hits else tr("Nothing found"))
        return [head, *(self._hit(titles[hit.conversation], hit.excerpt) for hit in hits)]

    def _hit(self, one: Any, excerpt: str) -> Row:
        return Row(one.id, one.title or tr("New chat"), " ".join(excerpt.split()), one.pinned)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Rows of the list."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What the view asks for."""
        row = self._rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.title if row.number else None
        return {NUMBER: row.number, EXCERPT: row.excerpt, PINNED: row.pinned}.get(role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Rename."""
        self._context.conversations.rename(self._rows[index.row()].number, str(value))
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings cannot be chosen."""
        if not index.isValid() or not self._rows[index.row()].number:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable


class ConversationDelegate(QStyledItemDelegate):
    """Draws a row: headings small and soft, search results with their excerpt."""

    def __init__(self, context: AppContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = context.theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line, or two with an excerpt."""
        line = option.fontMetrics.lineSpacing()
        if not index.data(NUMBER):
            return QSize(80, line + 18)
        return QSize(80, line + 12 + (line if index.data(EXCERPT) else 0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw it."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = option.rect.adjusted(8, 1, -8, -1)
        if index.data(NUMBER):
            self._paint_conversation(painter, option, index, box)
        else:
            font = QFont(option.font)
            font.setPointSizeF(font.pointSizeF() * 0.9)
            painter.setFont(font)
            painter.setPen(self._theme.color("text_soft"))
            painter.drawText(box.adjusted(8, 8, 0, 0), Qt.AlignmentFlag.AlignVCenter, index.data())
        painter.restore()

    def _paint_conversation(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, box: QRect) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if selected or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("selected" if selected else "hover"))
            painter.drawRoundedRect(box, 6, 6)
        if selected and option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self._theme.color("focus"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, 6, 6)
        inside = box.adjusted(10, 4, -10, -4)
        line = option.fontMetrics.lineSpacing()
        painter.setPen(self._theme.color("text"))
        self._line(painter, option, QRect(inside.left(), inside.top(), inside.width(), line), index.data())
        if index.data(EXCERPT):
            painter.setPen(self._theme.color("text_soft"))
            below = QRect(inside.left(), inside.top() + line, inside.width(), line)
            self._line(painter, option, below, index.data(EXCERPT))

    def _line(self, painter: QPainter, option: QStyleOptionViewItem, box: QRect, text: str) -> None:
        shown = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, shown)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """The editor covers the row."""
        editor.setGeometry(option.rect.adjusted(8, 0, -8, 0))


class ConversationList(QListView):
    """The list itself."""

    def __init__(self, context: AppContext, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("conversations")
        self._context = context
        self._in_front = True
        self.rows = ConversationModel(context, self)
        self.setModel(self.rows)
        self.setItemDelegate(ConversationDelegate(context, self))
        self.setAccessibleName(tr("Chats"))
        self.setMouseTracking(True)
        self.setUniformItemSizes(False)
        self.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)
        self.clicked.connect(self._open)
        self.activated.connect(self._open)
        context.conversations.listed.connect(self._refresh)
        context.conversations.opened.connect(self.mark_current)
        self._refresh()

    def mark_current(self) -> None:
        """Select the conversation in front."""
        current = self._context.conversations.current if self._in_front else None
        row = self.rows.row_of(current.id) if current is not None else -1
        if row >= 0:
            self.setCurrentIndex(self.rows.index(row))
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def set_in_front(self, in_front: bool) -> None:
        """Whether the chat is the place in front: only then is a conversation marked."""
        self._in_front = in_front
        self.mark_current()

    def rename_current(self) -> None:
        """Begin to rename the conversation in front."""
        self._context.frame.show_place("chat")
        self.mark_current()
        if self.currentIndex().isValid():
            self.edit(self.currentIndex())

    def _refresh(self) -> None:
        self.rows.refresh()
        self.mark_current()

    def _open(self, index: QModelIndex) -> None:
        number = index.data(NUMBER)
        if number:
            current = self._context.conversations.current
            self._context.frame.show_place("chat")
            if current is None or current.id != number:
                self._context.conversations.open(number)

    def _menu(self, where: QPoint) -> None:
        index = self.indexAt(where)
        if not index.isValid() or not index.data(NUMBER):
            return
        self._open(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in ("chat.rename", "chat.pin", "chat.export_markdown", "chat.export_json", "chat.delete"):
            menu.addAction(self._context.actions[name])
        menu.popup(self.viewport().mapToGlobal(where))
