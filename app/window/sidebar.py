"""The sidebar: a new chat, search, conversations by day, then the other places."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.context import AppContext
from app.i18n import tr
from app.window.conversation_list import ConversationList
from app.window.places import PLACES

WIDE, NARROW, WIDEST = 248, 56, 380
SEARCH_PAUSE_MS = 120


class Sidebar(QWidget):
    """Conversations and places; icons only when narrow.

    Attributes: `search` the search field, `list` the conversations.
    """

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context = context
        self._narrow = False
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(tr("Search chats"))
        self.search.setAccessibleName(tr("Search chats"))
        self.search.setClearButtonEnabled(True)
        self.list = ConversationList(context, self)
        self._new = self._button(tr("New chat"), "plus", "chat.new")
        self._find = self._button(tr("Search chats"), "search", "chat.search")
        self._buttons = {
            place.name: self._button(tr(place.title), place.icon, f"view.{place.name}") for place in PLACES
        }
        for name, button in self._buttons.items():
            button.setCheckable(True)
            button.clicked.connect(lambda _=False, place=name: self.mark_place(place))
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(SEARCH_PAUSE_MS)
        self._pause.timeout.connect(lambda: self.list.rows.search(self.search.text()))
        self.search.textChanged.connect(lambda _: self._pause.start())
        self.search.returnPressed.connect(self._into_list)
        self._lay_out()
        self.set_narrow(False)
        context.theme.changed.connect(self._fit)

    @property
    def narrow(self) -> bool:
        """Whether only icons are shown."""
        return self._narrow

    def set_narrow(self, narrow: bool) -> None:
        """Icons only, or icons with words and the conversations."""
        self._narrow = narrow
        self._fit()
        self.search.setVisible(not narrow)
        self.list.setVisible(not narrow)
        self._gap.setVisible(narrow)
        self._find.setVisible(narrow)
        self._buttons["chat"].setVisible(narrow)
        for button in (self._new, self._find, *self._buttons.values()):
            button.setText("" if narrow else button.accessibleName())

    def _fit(self) -> None:
        """As wide as its words need with this font, within reason: chats' titles may be cut."""
        theme = self._context.theme
        self.setFixedWidth(max(NARROW, theme.scaled(NARROW)) if self._narrow else min(WIDEST, theme.scaled(WIDE)))

    def mark_place(self, name: str) -> None:
        """Show which place is in front."""
        for place, button in self._buttons.items():
            button.setChecked(place == name)
        self.list.set_in_front(name == "chat")

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(2)
        column.addWidget(self._new)
        column.addWidget(self._find)
        column.addWidget(self.search)
        column.addSpacing(2)
        self.list.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.list, 1)
        self._gap = QWidget(self)
        column.addWidget(self._gap, 1)
        rule = QFrame(self)
        rule.setProperty("role", "rule")
        column.addWidget(rule)
        column.addSpacing(4)
        for place in PLACES:
            column.addWidget(self._buttons[place.name])

    def _button(self, text: str, icon: str, action: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setProperty("kind", "quiet")
        self._context.theme.tint(button, icon, "text", 18)
        button.setAccessibleName(text)
        shortcut = self._context.actions[action].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(f"{text} ({shortcut})" if shortcut else text)
        button.clicked.connect(self._context.actions[action].trigger)
        return button

    def _into_list(self) -> None:
        self._pause.stop()
        self.list.rows.search(self.search.text())
        if self.list.rows.rowCount() > 1:
            self.list.setCurrentIndex(self.list.rows.index(1))
            self.list.setFocus()

    def changeEvent(self, event: QEvent) -> None:
        """A larger font needs no wider sidebar, only new rows."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.list.scheduleDelayedItemsLayout()
