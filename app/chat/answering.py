"""One answer on its way: from the engine into the store and onto the screen, also while another chat is in front."""

from __future__ import annotations

import sqlite3
import time

from PySide6.QtCore import QObject, Signal

from app.chat.figures import figures
from app.engine_client import ChatResult, ChatStream, EngineProblem
from app.store import Message, Store


class Answering(QObject):
    """Receives an answer.

    Attributes: `message` (its text is complete only after `finished`), `conversation`.
    Signals: `text(piece)`, `thinking(piece)`, `tool_call(index, name, arguments)`, then `finished` once the message has
    been stored; `not_stored(why)` once when the disk does not take it, which does not stop the answer.
    """

    text = Signal(str)
    thinking = Signal(str)
    tool_call = Signal(int, str, str)
    finished = Signal()
    not_stored = Signal(str)

    def __init__(self, store: Store, message: Message, stream: ChatStream, parent: QObject) -> None:
        super().__init__(parent)
        self.message = message
        self.conversation = message.conversation
        self._store = store
        self._stream: ChatStream | None = stream
        self._began = time.monotonic()
        self._first: float | None = None
        self._thought_until: float | None = None
        self._text = [message.text]
        self._thinking = [message.thinking]
        self._calls: dict[int, dict[str, str]] = {}
        self._complained = False
        stream.text.connect(self._take_text)
        stream.thinking.connect(self._take_thinking)
        stream.tool_call.connect(self._take_call)
        stream.finished.connect(self._finished)
        stream.failed.connect(self._failed)

    def stop(self) -> None:
        """The user has seen enough."""
        if self._stream is not None:
            self._stream.stop()

    def received(self) -> tuple[str, str]:
        """Text and thinking so far, for a widget that is made in mid-answer."""
        return "".join(self._text), "".join(self._thinking)

    def _take_text(self, piece: str) -> None:
        self._note_time()
        if self._thought_until is None and len(self._thinking) > 1:
            self._thought_until = time.monotonic()
        self._text.append(piece)
        self._keep("text", piece)
        self.text.emit(piece)

    def _take_thinking(self, piece: str) -> None:
        self._note_time()
        self._thinking.append(piece)
        self._keep("thinking", piece)
        self.thinking.emit(piece)

    def _take_call(self, index: int, name: str, arguments: str) -> None:
        self._note_time()
        call = self._calls.setdefault(index, {"name": "", "arguments": ""})
        call["name"] += name
        call["arguments"] += arguments
        self.tool_call.emit(index, name, arguments)

    def _keep(self, kind: str, piece: str) -> None:
        self._store.journal.append(self.message.id, kind, piece)
        if self._store.journal.error:
            self._complain(self._store.journal.error)

    def _complain(self, why: str) -> None:
        if not self._complained:
            self._complained = True
            self.not_stored.emit(why)

    def _note_time(self) -> None:
        if self._first is None:
            self._first = time.monotonic()

    def _finished(self, result: ChatResult) -> None:
        status = "stopped" if result.finish_reason == "cancelled" else "complete"
        self._store_message(result, status)

    def _failed(self, problem: EngineProblem) -> None:
        self.message.extra["problem"] = problem.message
        self.message.extra["problem_code"] = problem.code
        self._store_message(ChatResult(), "failed")

    def _store_message(self, result: ChatResult, status: str) -> None:
        self._stream = None
        message, first = self.message, self._first
        message.text, message.thinking = self.received()
        message.status = status
        if self._calls:
            message.extra["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        if self._thinking[1:] and first is not None:
            message.extra["thinking_s"] = round((self._thought_until or time.monotonic()) - first)
        message.extra["finish_reason"] = result.finish_reason
        measured = figures(result.timings, None if first is None else first - self._began)
        message.extra["figures"] = measured
        try:
            self._store.finish_message(message)
        except sqlite3.Error as problem:  # it stays on the screen, and the journal keeps its pieces
            self._complain(str(problem))
        self.finished.emit()
        self.deleteLater()
