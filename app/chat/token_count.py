"""Counts tokens against the context while somebody types, at a cost that does not grow with the conversation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine_client import EngineClient

PAUSE_MS = 250
"""Typing has to rest this long before the text is counted."""
OVERHEAD = 8
"""Tokens a chat template puts around one more message, about."""


class TokenCount(QObject):
    """Tokens of the conversation and of the text being written.

    The conversation is counted when it changes, the text when typing rests. Attributes: `history`, `draft` in tokens,
    `limit` the context length, all 0 while unknown.
    Signals: `changed`.
    """

    changed = Signal()

    def __init__(self, client: EngineClient, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._history_source: Callable[[], list[dict[str, Any]]] = list
        self._draft_text = ""
        self._asked_history = self._asked_draft = 0
        self.history = self.draft = self.limit = 0
        self._history_timer = self._timer(0, self._count_history)
        self._draft_timer = self._timer(PAUSE_MS, self._count_draft)

    @property
    def total(self) -> int:
        """Tokens a request with the text would have."""
        return self.history + (self.draft + OVERHEAD if self.draft else 0)

    def watch_history(self, source: Callable[[], list[dict[str, Any]]]) -> None:
        """The conversation changed; `source` gives its messages when they are needed."""
        self._history_source = source
        self._history_timer.start()

    def set_draft(self, text: str) -> None:
        """The text being written."""
        self._draft_text = text
        if text:
            self._draft_timer.start()
        else:
            self._draft_timer.stop()
            self._asked_draft += 1
            self.draft = 0
            self.changed.emit()

    def recount(self) -> None:
        """Another model counts differently."""
        self.history = self.draft = self.limit = 0
        self._history_timer.start()
        if self._draft_text:
            self._draft_timer.start()
        self.changed.emit()

    def _timer(self, pause_ms: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(pause_ms)
        timer.timeout.connect(slot)
        return timer

    def _count_history(self) -> None:
        self._asked_history += 1
        if self._client.model:
            number = self._asked_history
            messages = self._history_source()
            call = self._client.tokenize(messages=messages) if messages else self._client.tokenize(text="")
            call.done.connect(lambda answer: self._counted("history", answer, number == self._asked_history))

    def _count_draft(self) -> None:
        self._asked_draft += 1
        if self._client.model:
            number = self._asked_draft
            call = self._client.tokenize(text=self._draft_text)
            call.done.connect(lambda answer: self._counted("draft", answer, number == self._asked_draft))

    def _counted(self, what: str, answer: dict[str, Any], current: bool) -> None:
        if current:
            setattr(self, what, int(answer.get("tokens", 0)))
            self.limit = int(answer.get("context_length", 0))
            self.changed.emit()
