"""A block of code: its language, a copy button, highlighted text that scrolls sideways."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextLayout,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.chat.highlight import spans
from app.i18n import tr
from app.page_parts.labels import fixed_font
from app.theme import Theme

OPEN_LINES = 40
"""Lines at the end of an unfinished block that are coloured anew as text arrives."""
COPIED_MS = 1500
INDENT = 24


class CodeBlock(QWidget):
    """Code with its head line, indented by `depth` list levels.

    Signals: `height_changed`.
    """

    height_changed = Signal()

    def __init__(self, theme: Theme, language: str, depth: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._language = language
        self._depth = depth
        self.text_view = _CodeText(self)
        self.copy_button = QPushButton(tr("Copy"), self)
        self.copy_button.setProperty("kind", "quiet")
        theme.tint(self.copy_button, "copy")
        self.copy_button.setAccessibleName(tr("Copy this code"))
        self.copy_button.clicked.connect(self.copy)
        self._restore = QTimer(self)
        self._restore.setSingleShot(True)
        self._restore.setInterval(COPIED_MS)
        self._restore.timeout.connect(lambda: self.copy_button.setText(tr("Copy")))
        self._lay_out(depth)

    def is_for(self, language: str, depth: int) -> bool:
        """Whether this block can show code of that kind at that place."""
        return (language, depth) == (self._language, self._depth)

    def show_code(self, text: str, complete: bool) -> None:
        """Show `text`; when it only grew the rest is appended, when it is `complete` all of it is coloured."""
        shown = self.code()
        if not text.startswith(shown):
            self.text_view.setPlainText(text)
        elif len(text) > len(shown):
            self.append_code(text[len(shown) :])
        if complete or not text.startswith(shown):
            self._colour(0)
        self._fit()

    def append_code(self, text: str) -> None:
        """Add to the end; only the last lines are coloured again."""
        cursor = QTextCursor(self.text_view.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)
        self._colour(max(0, self.text_view.blockCount() - OPEN_LINES - text.count("\n")))
        self._fit()

    def code(self) -> str:
        """The text as it is copied."""
        return self.text_view.toPlainText()

    def copy(self) -> None:
        """Put the code on the clipboard and say so on the button."""
        QGuiApplication.clipboard().setText(self.code())
        self.copy_button.setText(tr("Copied"))
        self._restore.start()

    def _lay_out(self, depth: int) -> None:
        frame = QFrame(self)
        frame.setObjectName("code-block")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(depth * INDENT, 0, 0, 0)
        outer.addWidget(frame)
        label = QLabel(self._language or tr("text"), frame)
        label.setProperty("role", "soft")
        head = QHBoxLayout()
        head.setContentsMargins(12, 2, 4, 0)
        head.addWidget(label)
        head.addStretch(1)
        head.addWidget(self.copy_button)
        column = QVBoxLayout(frame)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.text_view)
        self.text_view.setAccessibleName(tr("Code, {language}").format(language=self._language or tr("text")))

    def _colour(self, first_line: int) -> None:
        document = self.text_view.document()
        block = document.findBlockByNumber(first_line)
        start = block.position()
        for line in spans("\n".join(_lines_from(block)), self._language):
            block.layout().setFormats([self._range(*span) for span in line])
            block = block.next()
        document.markContentsDirty(start, document.characterCount() - start)

    def _range(self, start: int, length: int, token: str) -> QTextLayout.FormatRange:
        found = QTextLayout.FormatRange()
        found.start, found.length = start, length
        form = QTextCharFormat()
        form.setForeground(self._theme.color(token))
        if token == "syn_comment":
            form.setFontItalic(True)
        found.format = form
        return found

    def _fit(self) -> None:
        if self.text_view.fit():
            self.updateGeometry()
            self.height_changed.emit()


class _CodeText(QPlainTextEdit):
    """The text itself, as tall as its lines."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFont(fixed_font())
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.document().setDocumentMargin(4)

    def fit(self) -> bool:
        """Become as tall as the lines need; True when that changed something."""
        bar = self.horizontalScrollBar().sizeHint().height()
        height = self.fontMetrics().lineSpacing() * self.blockCount() + 8 + 8 + bar
        if height == self.height() and height == self.minimumHeight():
            return False
        self.setFixedHeight(height)
        return True

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Sideways is ours, up and down the list's."""
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


def _lines_from(block: QTextBlock) -> Iterator[str]:
    while block.isValid():
        yield block.text()
        block = block.next()
