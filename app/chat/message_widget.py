"""One message on the screen: the words, what belongs to them, and what can be done with them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.chat.answer_body import AnswerBody
from app.chat.figures import in_words
from app.chat.fold import Fold
from app.chat.prose import Prose
from app.i18n import tr
from app.store import Message
from app.theme import Theme

STATUS_NOTES = {
    "stopped": "Stopped by you.",
    "partial": "This answer was cut off when the program or the engine ended.",
    "failed": "This answer could not be finished.",
}


class MessageWidget(QFrame):
    """A message; made for what is on the screen only, so it holds nothing the store does not.

    Signals: `asked(what, message id)` with `what` one of "copy", "edit", "regenerate", "continue", "previous", "next";
    `height_changed` when it wants another height.
    """

    asked = Signal(str, int)
    height_changed = Signal()

    def __init__(
        self,
        theme: Theme,
        message: Message,
        version: int,
        versions: int,
        *,
        streaming: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.streaming = streaming
        self.message_id = message.id
        self._theme = theme
        self._role = message.role
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 8, 0, 8)
        self._column.setSpacing(6)
        self.thinking: Fold | None = None
        self.tools: dict[int, Fold] = {}
        self.body = AnswerBody(theme, self)
        self.body.height_changed.connect(self.height_changed)
        self._note = self._soft_label()
        self._figures = self._soft_label()
        self._continue: QToolButton | None = None
        if message.role == "user":
            self._build_question(message)
        else:
            self._build_answer(message)
        self._column.addLayout(self._foot(version, versions))
        self.show_outcome(message)

    def height_at(self, width: int) -> int:
        """Height it needs at `width` pixels."""
        self._column.activate()
        return self._column.heightForWidth(width) if self._column.hasHeightForWidth() else self.sizeHint().height()

    # -- while it streams --------------------------------------------------------------

    def add_text(self, piece: str) -> None:
        """Take a piece of the answer."""
        self.body.append(piece)

    def add_thinking(self, piece: str, unfold: bool = False) -> None:
        """Take a piece of what the model thinks before it answers."""
        if self.thinking is None:
            self.thinking = self._fold("thinking", tr("Thinking…"))
            self._column.insertWidget(0, self.thinking)
            self.thinking.set_open(unfold)
        self.thinking.append(piece)

    def set_tool_call(self, index: int, name: str, arguments: str) -> None:
        """Show a tool the model wants to call, with its arguments so far."""
        if index not in self.tools:
            self.tools[index] = self._fold("tool", tr("Calls a tool"))
            self._column.insertWidget(self._column.indexOf(self.body) + 1 + index, self.tools[index])
        if name:
            self.tools[index].set_title(tr("Calls the tool {name}").format(name=name))
        self.tools[index].append(arguments)

    def show_outcome(self, message: Message) -> None:
        """What there is to say once an answer has ended: how it ended and what it cost."""
        if self.streaming and message.status == "partial":
            return
        self.streaming = False
        note = message.extra.get("problem") or tr(STATUS_NOTES.get(message.status, ""))
        if message.extra.get("finish_reason") == "length":
            note = tr("The answer reached its length limit.")
        self._note.setText(note)
        self._note.setVisible(bool(note))
        words = in_words(message.extra.get("figures") or {})
        self._figures.setText(words)
        self._figures.setVisible(bool(words))
        if self.thinking is not None:
            seconds = message.extra.get("thinking_s")
            self.thinking.set_title(tr("Thought for {s} s").format(s=seconds) if seconds else tr("Thinking"))
        if self._continue is not None:
            unfinished = message.status != "complete" or message.extra.get("finish_reason") == "length"
            self._continue.setVisible(unfinished)
        self.height_changed.emit()

    # -- building ----------------------------------------------------------------------

    def _build_question(self, message: Message) -> None:
        self.setAccessibleName(tr("You wrote"))
        self.setAccessibleDescription(message.text)
        bubble = QFrame(self)
        bubble.setObjectName("bubble")
        inside = QVBoxLayout(bubble)
        inside.setContentsMargins(14, 10, 14, 10)
        for attachment in message.extra.get("attachments") or ():
            inside.addWidget(self._attachment(attachment))
        words = Prose(self._theme, bubble)
        words.setAccessibleName(tr("Your message"))
        words.append_plain(message.text)
        inside.addWidget(words)
        self.body.hide()
        self._column.addWidget(bubble)

    def _build_answer(self, message: Message) -> None:
        self.setAccessibleName(tr("Answer"))
        self.setAccessibleDescription(message.text[:500])
        self._column.addWidget(self.body)
        if message.thinking:
            self.add_thinking(message.thinking)
        for index, call in enumerate(message.extra.get("tool_calls") or ()):
            self.set_tool_call(index, str(call.get("name", "")), str(call.get("arguments", "")))
        if message.text and self.streaming:
            self.body.append(message.text)
            self.body.flush()
        elif message.text:
            self.body.set_text(message.text)
        self._column.addWidget(self._note)

    def _foot(self, version: int, versions: int) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        if self._role == "user":
            row.addStretch(1)
        if versions > 1:
            self._add_versions(row, version, versions)
        row.addWidget(self._button("copy", tr("Copy"), "copy"))
        if self._role == "user":
            row.addWidget(self._button("edit", tr("Edit"), "edit"))
        else:
            row.addWidget(self._button("refresh", tr("Regenerate"), "regenerate"))
            self._continue = self._button("continue", tr("Continue"), "continue")
            row.addWidget(self._continue)
            row.addSpacing(8)
            row.addWidget(self._figures, 1000)
            row.addStretch(1)  # keeps the buttons together while there are no figures
        return row

    def _add_versions(self, row: QHBoxLayout, version: int, versions: int) -> None:
        back = self._button("left", tr("Previous version"), "previous")
        forth = self._button("right", tr("Next version"), "next")
        back.setEnabled(version > 1)
        forth.setEnabled(version < versions)
        label = self._soft_label()
        label.setText(f"{version} / {versions}")
        label.setAccessibleName(tr("Version {n} of {m}").format(n=version, m=versions))
        for widget in (back, label, forth):
            row.addWidget(widget)

    def _button(self, icon: str, text: str, what: str) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("kind", "quiet")
        self._theme.tint(button, icon)
        button.setToolTip(text)
        button.setAccessibleName(text)
        button.setObjectName(f"message-{what}")
        button.clicked.connect(lambda: self.asked.emit(what, self.message_id))
        return button

    def _attachment(self, attachment: dict[str, Any]) -> QPushButton:
        chip = QPushButton(str(attachment.get("name", "")), self)
        self._theme.tint(chip, "file")
        chip.setToolTip(tr("{n} characters").format(n=len(str(attachment.get("text", "")))))
        chip.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        return chip

    def _fold(self, icon: str, title: str) -> Fold:
        fold = Fold(self._theme, icon, title, self)
        fold.height_changed.connect(self.height_changed)
        return fold

    def _soft_label(self) -> QLabel:
        label = QLabel(self)
        label.setProperty("role", "soft")
        label.setWordWrap(True)
        label.hide()
        return label

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Shown by a frame, for people who use the keyboard."""
        super().focusInEvent(event)
        self.setProperty("focused", "true")
