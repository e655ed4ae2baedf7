"""A read-only text as tall as its content: selectable, with links that open in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from app.chat.document import DocumentWriter
from app.chat.markdown import Block
from app.theme import Theme

SAFE_SCHEMES = ("http", "https", "mailto")


class Prose(QTextBrowser):
    """Paragraphs, lists, headings and tables.

    Signals: `height_changed` when it wants to be taller or lower than before.
    """

    height_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prose")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.anchorClicked.connect(open_link)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.document().setDefaultFont(self.font())
        self.writer = DocumentWriter(self.document(), theme)
        self._height = 0

    def write(self, blocks: Sequence[Block], *, still_open: bool = False) -> None:
        """Append blocks in place of those still open."""
        self.writer.write(blocks, still_open=still_open)
        self._measure()

    def append_plain(self, text: str, token: str = "text") -> None:
        """Append text as it is."""
        self.writer.append_plain(text, token)
        self._measure()

    def heightForWidth(self, width: int) -> int:
        """Height of the text when it is `width` pixels wide."""
        document = self.document()
        if document.textWidth() != width:
            document.setTextWidth(width)
        return int(document.size().height() + 0.99)

    def sizeHint(self) -> QSize:
        """As wide as it is, as tall as the text."""
        width = max(self.width(), 40)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """It can be as narrow as a word."""
        return QSize(40, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A new width is a new height."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._measure()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The list scrolls, not the text in it."""
        event.ignore()

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing is ever fetched for an answer."""
        return None

    def _measure(self) -> None:
        height = self.heightForWidth(max(self.width(), 40))
        if height != self._height:
            self._height = height
            self.updateGeometry()
            self.height_changed.emit()


def open_link(url: QUrl) -> None:
    """Open a web or mail address in the program that is for it; any other kind of link does nothing."""
    if url.scheme() in SAFE_SCHEMES:
        QDesktopServices.openUrl(url)
