"""The branch of a conversation that is in front, and its answers: ask, regenerate, edit, continue, stop, switch."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.chat.answering import Answering
from app.chat.attachments import Attachment
from app.chat.overflow import exchanges_to_drop
from app.chat.requests import api_messages, chat_body, without_oldest
from app.context import AppContext
from app.engine_client import State
from app.store import Message, Sampling, Tree


class Branch(QObject):
    """What the chat page shows.

    Attributes: `path`, the messages from first to last; `waiting`, whether an answer waits for the model to load.
    Signals: `path_changed`; `text`, `thinking` (message id, piece) and `tool_call(id, index, name, arguments)` of the
    answer that is shown; `ended(message id)`; `answering_changed`.
    """

    path_changed = Signal()
    text = Signal(int, str)
    thinking = Signal(int, str)
    tool_call = Signal(int, int, str, str)
    ended = Signal(int)
    answering_changed = Signal()

    def __init__(self, context: AppContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._tree = Tree()
        self._running: dict[int, Answering] = {}
        self._dropped: dict[int, int] = {}
        self._waiting: tuple[int, int] | None = None
        self.path: list[Message] = []
        context.client.state_changed.connect(self._engine_changed)
        context.session.trouble.connect(self._give_up_waiting)

    # -- what there is -----------------------------------------------------------------

    @property
    def conversation(self) -> int:
        """Id of the conversation in front, 0 for one that is not stored yet."""
        current = self._context.conversations.current
        return current.id if current is not None else 0

    @property
    def answering(self) -> bool:
        """Whether an answer streams, or waits, in the conversation in front."""
        return self.conversation in self._running or self.waiting

    @property
    def answering_key(self) -> int | None:
        """Id of the message that streams in the conversation in front."""
        run = self._running.get(self.conversation)
        return run.message.id if run is not None else None

    @property
    def waiting(self) -> bool:
        """Whether the conversation in front waits for the model."""
        return self._waiting is not None and self._waiting[0] == self.conversation

    def shown(self, key: int) -> tuple[Message, bool]:
        """A message as it should be shown now, and whether it still grows."""
        message = self._tree[key]
        run = self._running.get(message.conversation)
        if run is None or run.message.id != key:
            return message, False
        text, thinking = run.received()
        return replace(message, text=text, thinking=thinking), True

    def version(self, key: int) -> tuple[int, int]:
        """Which version of how many a message is."""
        siblings = self._tree.siblings(key)
        return siblings.index(key) + 1, len(siblings)

    def request_messages(self) -> list[dict[str, Any]]:
        """The branch as the chat API wants it."""
        current = self._context.conversations.current
        path = without_oldest(self.path, self._dropped.get(self.conversation, 0))
        return api_messages(current.system if current is not None else "", path)

    @property
    def unanswered(self) -> int | None:
        """Id of the last message when it is a question nobody is answering."""
        last = self.path[-1] if self.path else None
        return last.id if last is not None and last.role == "user" and not self.answering else None

    def on_last_answer(self, what: Callable[[int], object]) -> None:
        """Do something with the last answer, when there is one."""
        answers = [message.id for message in self.path if message.role == "assistant"]
        if answers:
            what(answers[-1])

    # -- what can be done --------------------------------------------------------------

    def open(self) -> None:
        """Read the conversation in front."""
        current = self._context.conversations.current
        known = len(self._context.store.problems)
        self._tree = Tree(self._context.store.messages(current.id) if current is not None else ())
        for line in self._context.store.problems[known:]:
            self._context.conversations.broken.emit(line)
        run = self._running.get(self.conversation)
        if run is not None and run.message.id in self._tree:
            self._tree.replace(run.message)
        self._show(current.active if current is not None else None)
        self.answering_changed.emit()

    def ask(
        self, text: str, attachments: Sequence[Attachment], editing: int | None, system: str, sampling: Sampling
    ) -> None:
        """Add a message of the user, as another version of message `editing` if that is set, and have it answered."""
        current = self._context.conversations.ensure(text or attachments[0].name, system, sampling)
        parent = self.path[-1].id if self.path else None
        if editing is not None:
            parent = self._tree[editing].parent
        files = [{"name": one.name, "text": one.text} for one in attachments]
        message = self._add(current.id, parent, "user", text, {"attachments": files} if files else {})
        self._show(message.id)
        self._context.conversations.touch()
        self._answer(message.id)

    def regenerate(self, key: int) -> None:
        """Another version of an answer, or the first one of a question that has none."""
        parent = key if self._tree[key].role == "user" else self._tree[key].parent
        if not self.answering and parent is not None:
            self._show(parent)
            self._answer(parent)

    def go_on(self, key: int) -> None:
        """Continue an answer that was stopped, cut off or too long."""
        if self.answering or not self._ready():
            return
        message = self._tree[key]
        for name in ("problem", "problem_code", "finish_reason"):
            message.extra.pop(name, None)
        self._context.store.reopen_message(message)
        self._stream(message, go_on=bool(message.text))

    def switch(self, key: int, by: int) -> None:
        """Show another version of a message and what followed it."""
        siblings = self._tree.siblings(key)
        at = siblings.index(key) + by
        if not self.answering and 0 <= at < len(siblings):
            leaf = self._tree.newest_leaf(siblings[at])
            self._context.store.set_active(self.conversation, leaf)
            self._show(leaf)

    def stop(self) -> None:
        """Stop the answer in front."""
        if self.waiting:
            self._waiting = None
            self.answering_changed.emit()
        run = self._running.get(self.conversation)
        if run is not None:
            run.stop()

    def stop_all(self) -> None:
        """Stop every answer (the program ends)."""
        self._waiting = None
        for run in list(self._running.values()):
            run.stop()

    def copy(self, key: int) -> None:
        """Put a message's text on the clipboard."""
        QGuiApplication.clipboard().setText(self.shown(key)[0].text)

    def drop_oldest(self, tokens: int, limit: int) -> None:
        """Leave the oldest exchanges out of the requests of this conversation; they stay on the screen and on disk."""
        current = self._context.conversations.current
        most = current.sampling.max_tokens if current is not None else None
        already = self._dropped.get(self.conversation, 0)
        rest = without_oldest(self.path, already)
        self._dropped[self.conversation] = already + max(1, exchanges_to_drop(rest, tokens, limit, most))

    # -- answers -----------------------------------------------------------------------

    def _ready(self) -> bool:
        return self._context.client.state in (State.READY, State.BUSY) and self._context.session.settled

    def _answer(self, parent: int) -> None:
        if not self._ready():
            self._waiting = (self.conversation, parent)
            self.answering_changed.emit()
            if self._context.session.settled and self._context.client.state in (
                State.STOPPED,
                State.CRASHED,
                State.EMPTY,
                State.FAILED,
            ):
                self._context.session.reload()
            return
        message = self._add(
            self.conversation, parent, "assistant", "", {"model": self._context.client.model}, "partial"
        )
        self._stream(message)

    def _stream(self, message: Message, *, go_on: bool = False) -> None:
        current = self._context.conversations.current
        assert current is not None
        path = self._tree.path(message.id)
        sent = without_oldest(path if go_on else path[:-1], self._dropped.get(current.id, 0))
        body = chat_body(current.system, sent, current.sampling, go_on=go_on)
        run = Answering(self._context.store, message, self._context.client.chat_stream(body), self)
        run.not_stored.connect(self._context.conversations.trouble)
        self._running[current.id] = run
        key = message.id
        run.text.connect(lambda piece: self._relay(run, self.text.emit, key, piece))
        run.thinking.connect(lambda piece: self._relay(run, self.thinking.emit, key, piece))
        run.tool_call.connect(lambda *call: self._relay(run, self.tool_call.emit, key, *call))
        run.finished.connect(lambda: self._finished(run))
        self.answering_changed.emit()
        self._show(key)

    def _relay(self, run: Answering, emit: Callable[..., None], *arguments: Any) -> None:
        if run.conversation == self.conversation:
            emit(*arguments)

    def _finished(self, run: Answering) -> None:
        self._running.pop(run.conversation, None)
        if run.conversation == self.conversation and run.message.id in self._tree:
            self.ended.emit(run.message.id)
        self.answering_changed.emit()

    def _engine_changed(self, state: State) -> None:
        if self._ready() and self._waiting is not None and self.waiting:
            parent = self._waiting[1]
            self._waiting = None
            self._answer(parent)
        elif state in (State.CRASHED, State.FAILED):
            self._give_up_waiting()

    def _give_up_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting = None
            self.answering_changed.emit()

    def _add(
        self,
        conversation: int,
        parent: int | None,
        role: str,
        text: str,
        extra: dict[str, Any],
        status: str = "complete",
    ) -> Message:
        try:
            message = self._context.store.add_message(conversation, parent, role, text, extra=extra, status=status)
        except sqlite3.Error as problem:
            self._context.conversations.trouble.emit(str(problem))
            raise
        self._tree.add(message)
        return message

    def _show(self, leaf: int | None) -> None:
        self.path = self._tree.path(leaf) if len(self._tree) else []
        self.path_changed.emit()
