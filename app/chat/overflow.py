"""When a conversation no longer fits the context: how much to leave out (pure), and the bar that offers the choice."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.i18n import number, tr
from app.store import Message

ROOM_FOR_ANSWER = 256
"""Tokens that should be left for an answer."""


def fits(tokens: int, limit: int, max_tokens: int | None) -> bool:
    """Whether a request of `tokens` leaves room for an answer in a context of `limit` tokens (0: not known yet)."""
    room = min(max_tokens or ROOM_FOR_ANSWER, ROOM_FOR_ANSWER, limit // 4)
    return limit == 0 or tokens + room <= limit


def exchanges_to_drop(path: Sequence[Message], tokens: int, limit: int, max_tokens: int | None) -> int:
    """How many of the oldest exchanges to leave out so that the rest fits, by each message's share of the letters."""
    starts = [number for number, message in enumerate(path) if message.role == "user"]
    letters = sum(_letters(message) for message in path) or 1
    for dropped in range(len(starts)):
        left = sum(_letters(message) for message in path[starts[dropped] if dropped else 0 :])
        if fits(int(tokens * left / letters * 1.05), limit, max_tokens):
            return dropped
    return max(0, len(starts) - 1)


def _letters(message: Message) -> int:
    attached = sum(len(one.get("text", "")) for one in message.extra.get("attachments") or ())
    return len(message.text) + attached + 24


class OverflowBar(QFrame):
    """Offers what can be done when the conversation is too long.

    Signals: `larger_asked`, `drop_asked`, `new_asked`.
    """

    larger_asked = Signal()
    drop_asked = Signal()
    new_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "notice-warn")
        column = QVBoxLayout(self)
        self._label = QLabel(self)
        self._label.setWordWrap(True)
        column.addWidget(self._label)
        row = QHBoxLayout()
        for text, signal in (
            (tr("Larger context"), self.larger_asked),
            (tr("Leave out the oldest"), self.drop_asked),
            (tr("New chat"), self.new_asked),
        ):
            button = QPushButton(text, self)
            button.clicked.connect(signal)
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        self.hide()

    def offer(self, tokens: int, limit: int) -> None:
        """Show the choice."""
        self._label.setText(
            tr(
                "This chat needs {n} tokens with your message; the model's context holds {m}. What should happen?"
            ).format(n=number(tokens), m=number(limit))
        )
        self.show()
