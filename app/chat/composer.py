"""Where one writes: grows with the text, takes files, sends with Enter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QInputMethodEvent, QKeyEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.chat.attachments import Attachment
from app.context import AppContext
from app.i18n import tr

SHARE_OF_WINDOW = 0.4
"""The text box grows to this share of the window's height, then it scrolls."""


class MessageEdit(QPlainTextEdit):
    """The text box.

    Signals: `submitted` (Enter, but not an input method's), `escaped`, `files_dropped(list of paths)`.
    """

    submitted = Signal()
    escaped = Signal()
    files_dropped = Signal(list)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.enter_sends = True
        self._composing = False
        self.setTabChangesFocus(True)
        self.setAcceptDrops(True)
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self.textChanged.connect(self.fit)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Remember whether a word is still being composed: its Enter accepts the word and sends nothing."""
        super().inputMethodEvent(event)
        self._composing = bool(event.preeditString())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter sends, Shift+Enter breaks the line (or the other way round with Ctrl, as the user prefers)."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._composing:
            modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            sends = Qt.KeyboardModifier.NoModifier if self.enter_sends else Qt.KeyboardModifier.ControlModifier
            if modifiers == sends:
                self.submitted.emit()
                return
            if modifiers == Qt.KeyboardModifier.ShiftModifier:
                self.insertPlainText("\n")
                return
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
            return
        super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Text, and files that are dropped or pasted."""
        return source.hasUrls() or source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Files are attached, anything else is text without its formats."""
        paths = _local_files(source)
        if paths:
            self.files_dropped.emit(paths)
        elif source.hasText():
            self.insertPlainText(source.text())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files are welcome."""
        if _local_files(event.mimeData()):
            event.acceptProposedAction()
        else:
            super().dragEnterEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Attach dropped files."""
        paths = _local_files(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.files_dropped.emit(paths)
        else:
            super().dropEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width breaks lines elsewhere."""
        super().resizeEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        """A larger font needs a taller box."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.fit()

    def fit(self) -> None:
        """Be as tall as the text, within limits."""
        line = self.fontMetrics().lineSpacing()
        lines = max(1, int(self.document().size().height()))
        most = max(3 * line, int(self.window().height() * SHARE_OF_WINDOW))
        self.setFixedHeight(min(lines * line + 14, most))


class Composer(QFrame):
    """The box at the bottom of a chat.

    Signals: `sent(text, attachments)`; `stop_asked`; `changed` when text or attachments changed; `attach_asked`;
    `options_asked`; `edit_cancelled`.
    """

    sent = Signal(str, list)
    stop_asked = Signal()
    changed = Signal()
    attach_asked = Signal()
    options_asked = Signal()
    edit_cancelled = Signal()
    files_dropped = Signal(list)

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._context = context
        self._answering = False
        self._editing = False
        self.attachments: list[Attachment] = []
        self.edit = MessageEdit(self)
        self.edit.setPlaceholderText(tr("Ask anything…"))
        self.edit.setAccessibleName(tr("Message"))
        self.edit.submitted.connect(self.submit)
        self.edit.escaped.connect(self._escape)
        self.edit.textChanged.connect(self._update)
        self.edit.files_dropped.connect(self.files_dropped)
        self.edit.installEventFilter(self)
        self.counter = QLabel(self)
        self.counter.setProperty("role", "soft")
        self.counter.setAccessibleName(tr("Tokens used of the context"))
        self.send = QToolButton(self)
        self.send.setProperty("kind", "primary")
        self.send.clicked.connect(self._pressed)
        self._chips = QHBoxLayout()
        self._banner = self._edit_banner()
        self._lay_out()
        self._update()

    # -- state -------------------------------------------------------------------------

    def text(self) -> str:
        """What is written."""
        return self.edit.toPlainText()

    def set_text(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Put text and files in place of what is written."""
        self.attachments = list(attachments)
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self._show_chips()

    def set_answering(self, answering: bool) -> None:
        """While an answer streams the button stops it."""
        self._answering = answering
        self._update()

    def set_editing(self, editing: bool) -> None:
        """Whether an earlier message is being edited."""
        self._editing = editing
        self._banner.setVisible(editing)
        self._update()

    def show_count(self, words: str, over: bool) -> None:
        """Tokens against the context."""
        self.counter.setText(words)
        self.counter.setProperty("role", "bad" if over else "soft")
        self.counter.style().polish(self.counter)

    def add(self, attachment: Attachment) -> None:
        """Attach a file."""
        self.attachments.append(attachment)
        self._show_chips()

    def submit(self) -> None:
        """Send, when there is something to send and nobody is answering."""
        text = self.text().strip()
        if self._answering or not (text or self.attachments):
            return
        attachments, self.attachments = self.attachments, []
        self.edit.clear()
        self._show_chips()
        self.sent.emit(text, attachments)

    # -- building ----------------------------------------------------------------------

    def _lay_out(self) -> None:
        theme = self._context.theme
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 8, 8)
        column.setSpacing(4)
        self._chips.setSpacing(6)
        column.addWidget(self._banner)
        column.addLayout(self._chips)
        column.addWidget(self.edit)
        row = QHBoxLayout()
        row.setSpacing(4)
        for icon, text, signal in (
            ("attach", tr("Attach text files"), self.attach_asked),
            ("sliders", tr("System prompt and sampling"), self.options_asked),
        ):
            button = QToolButton(self)
            button.setProperty("kind", "quiet")
            theme.tint(button, icon)
            button.setToolTip(text)
            button.setAccessibleName(text)
            button.clicked.connect(signal)
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.counter)
        row.addSpacing(4)
        row.addWidget(self.send)
        column.addLayout(row)

    def _edit_banner(self) -> QWidget:
        banner = QWidget(self)
        row = QHBoxLayout(banner)
        row.setContentsMargins(4, 0, 0, 0)
        label = QLabel(tr("Editing an earlier message. The old version stays as a branch."), banner)
        label.setProperty("role", "soft")
        label.setWordWrap(True)
        row.addWidget(label, 1)
        button = QPushButton(tr("Cancel"), banner)
        button.setProperty("kind", "quiet")
        button.clicked.connect(self.edit_cancelled)
        row.addWidget(button)
        banner.hide()
        return banner

    def _show_chips(self) -> None:
        while (item := self._chips.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for attachment in self.attachments:
            chip = QPushButton(attachment.name, self)
            self._context.theme.tint(chip, "close")
            chip.setToolTip(tr("Remove"))
            chip.setAccessibleName(tr("Remove {name}").format(name=attachment.name))
            chip.clicked.connect(lambda _=False, one=attachment: self._detach(one))
            self._chips.addWidget(chip)
        if self.attachments:
            self._chips.addStretch(1)
        self._update()

    def _detach(self, attachment: Attachment) -> None:
        self.attachments.remove(attachment)
        self._show_chips()

    def _update(self) -> None:
        text = tr("Stop") if self._answering else (tr("Save and answer") if self._editing else tr("Send"))
        self._context.theme.tint(self.send, "stop" if self._answering else "send", "accent_text")
        self.send.setToolTip(text)
        self.send.setAccessibleName(text)
        self.send.setEnabled(self._answering or bool(self.text().strip() or self.attachments))
        self.changed.emit()

    def _pressed(self) -> None:
        if self._answering:
            self.stop_asked.emit()
        else:
            self.submit()

    def _escape(self) -> None:
        if self._editing:
            self.edit_cancelled.emit()
        elif self._answering:
            self.stop_asked.emit()

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        """The frame shows the keyboard's place."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.setProperty("focused", "true" if event.type() == QEvent.Type.FocusIn else "false")
            self.style().polish(self)
        return False


def _local_files(source: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
