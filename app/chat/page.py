"""The chat page: messages above, composer below, and what happens between them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.chat.attachments import Attachment, AttachmentError, read_attachment
from app.chat.branch import Branch
from app.chat.composer import Composer
from app.chat.message_list import MARGIN, MessageList
from app.chat.message_widget import MessageWidget
from app.chat.options import OptionsPanel
from app.chat.overflow import OverflowBar, fits
from app.chat.token_count import TokenCount
from app.chat.waiting import Waiting
from app.chat.welcome import DemoNote, Welcome
from app.context import AppContext
from app.engine_client import State
from app.i18n import number, tr
from app.session import is_demo
from app.store import Sampling

TOO_LONG = "context_length_exceeded"
"""How the engine calls a prompt that does not fit."""


class ChatPage(QWidget):
    """The Chat place.

    Attributes: `branch` what is shown and answered; `messages`, `composer`, `options`, `overflow` its parts.
    """

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._editing: int | None = None
        self._draft_options = ("", Sampling())
        self.branch = Branch(context, self)
        self.messages = MessageList(self._make_message, self)
        self.composer = Composer(context, self)
        self.options = OptionsPanel(self)
        self.overflow = OverflowBar(self)
        self.count = TokenCount(context.client, self)
        self._demo = DemoNote(context, self)
        self._waiting = Waiting(self)
        self._waiting.answer_asked.connect(self._answer_last)
        self._stack = QStackedWidget(self)
        self._lay_out()
        self._connect()
        self._connect_actions()
        self._opened()

    # -- building ----------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._stack.addWidget(Welcome(self))
        self._stack.addWidget(self.messages)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 12)
        column.setSpacing(8)
        self._columns: list[QWidget] = []
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 0, 12, 0)
        bar.addWidget(self._demo)
        column.addLayout(bar)
        column.addWidget(self._stack, 1)
        column.addLayout(self._centred(self._waiting, self.overflow, self.options, self.composer))

    def _centred(self, *widgets: QWidget) -> QHBoxLayout:
        """`widgets` below each other in a column as wide as that of the messages."""
        inner = QWidget(self)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            column.addWidget(widget)
        row = QHBoxLayout()
        row.setContentsMargins(MARGIN, 0, MARGIN, 0)
        row.addStretch(1)
        row.addWidget(inner, 1000)
        row.addStretch(1)
        self._columns.append(inner)
        return row

    def _connect(self) -> None:
        branch, composer, context = self.branch, self.composer, self._context
        branch.path_changed.connect(self._show_path)
        branch.text.connect(self._add_text)
        branch.thinking.connect(self._add_thinking)
        branch.tool_call.connect(self._add_tool_call)
        branch.ended.connect(self._answer_ended)
        branch.answering_changed.connect(self._answering_changed)
        composer.sent.connect(self._submitted)
        composer.stop_asked.connect(branch.stop)
        composer.changed.connect(self._draft_changed)
        composer.attach_asked.connect(self._pick_files)
        composer.files_dropped.connect(self.attach)
        composer.options_asked.connect(self._toggle_options)
        composer.edit_cancelled.connect(self._end_edit)
        self.options.edited.connect(self._options_edited)
        self.overflow.larger_asked.connect(self._larger_context)
        self.overflow.drop_asked.connect(self._drop_oldest)
        self.overflow.new_asked.connect(self._move_to_new)
        self.count.changed.connect(self._show_count)
        context.conversations.opened.connect(self._opened)
        context.client.state_changed.connect(self._engine_changed)
        context.theme.changed.connect(self.messages.rebuild_all)

    def _connect_actions(self) -> None:
        actions, branch = self._context.actions, self.branch
        actions.connect("answer.stop", branch.stop)
        actions.connect("answer.regenerate", self._regenerate)
        actions.connect("answer.continue", lambda: branch.on_last_answer(branch.go_on))
        actions.connect("answer.copy", lambda: branch.on_last_answer(branch.copy))
        actions.connect("answer.thinking", lambda: branch.on_last_answer(self._toggle_thinking))
        actions.connect("answer.earlier", lambda: self.messages.step(-1))
        actions.connect("answer.later", lambda: self.messages.step(1))
        actions.connect("edit.attach", self._pick_files)
        actions.connect("edit.focus", self.composer.edit.setFocus)
        actions.connect("edit.last", self._edit_last)
        actions.connect("chat.options", self._toggle_options)
        self._answering_changed()

    # -- messages ----------------------------------------------------------------------

    def _make_message(self, key: int) -> MessageWidget:
        message, streaming = self.branch.shown(key)
        version, versions = self.branch.version(key)
        widget = MessageWidget(self._context.theme, message, version, versions, streaming=streaming)
        if widget.thinking is not None and streaming:
            widget.thinking.set_open(self._context.preferences["show_thinking"])
        widget.asked.connect(self._asked)
        return widget

    def _show_path(self) -> None:
        path = self.branch.path
        self._stack.setCurrentIndex(1 if path else 0)
        self.messages.show_messages([(message.id, len(message.text)) for message in path])
        self.count.watch_history(lambda: self.branch.request_messages())
        self._show_waiting()

    def _add_text(self, key: int, piece: str) -> None:
        widget = self.messages.widget(key)
        if widget is not None:
            widget.add_text(piece)

    def _add_thinking(self, key: int, piece: str) -> None:
        widget = self.messages.widget(key)
        if widget is not None:
            widget.add_thinking(piece, self._context.preferences["show_thinking"])

    def _add_tool_call(self, key: int, index: int, name: str, arguments: str) -> None:
        widget = self.messages.widget(key)
        if widget is not None:
            widget.set_tool_call(index, name, arguments)

    def _answer_ended(self, key: int) -> None:
        widget = self.messages.widget(key)
        if widget is not None:
            widget.body.finish()
            widget.show_outcome(self.branch.shown(key)[0])
        self.messages.keep(key, False)
        if self.branch.shown(key)[0].extra.get("problem_code") == TOO_LONG:
            self.overflow.offer(self.count.total, self.count.limit)
        self.count.watch_history(lambda: self.branch.request_messages())

    def _asked(self, what: str, key: int) -> None:
        if what == "edit":
            self.edit(key)
        else:
            deeds: dict[str, Callable[[int], object]] = {
                "copy": self.branch.copy,
                "regenerate": self.branch.regenerate,
                "continue": self.branch.go_on,
                "previous": lambda one: self.branch.switch(one, -1),
                "next": lambda one: self.branch.switch(one, 1),
            }
            deeds[what](key)

    def _regenerate(self) -> None:
        if self.branch.unanswered is not None:
            self._answer_last()
        else:
            self.branch.on_last_answer(self.branch.regenerate)

    def _answer_last(self) -> None:
        if self.branch.unanswered is not None:
            self.branch.regenerate(self.branch.unanswered)

    def _toggle_thinking(self, key: int) -> None:
        widget = self.messages.widget(key) or self.messages.show_message(key)
        if widget is not None and widget.thinking is not None:
            widget.thinking.set_open(not widget.thinking.open)

    # -- writing -----------------------------------------------------------------------

    def _submitted(self, text: str, attachments: list[Attachment]) -> None:
        sampling = self._options()[1]
        if self._editing is None and not fits(self.count.total, self.count.limit, sampling.max_tokens):
            self.composer.set_text(text, attachments)
            self.overflow.offer(self.count.total, self.count.limit)
            return
        self.send(text, attachments)

    def send(self, text: str, attachments: list[Attachment]) -> None:
        """Send a message (or the edited version of an earlier one) and have it answered."""
        editing, self._editing = self._editing, None
        self.composer.set_editing(False)
        self.overflow.hide()
        try:
            self.branch.ask(text, attachments, editing, *self._draft_options)
        except sqlite3.Error:  # the window has said so; the words are not lost
            self.composer.set_text(text, attachments)
        self.messages.scroll_to_end()

    def edit(self, key: int) -> None:
        """Take an earlier message of the user into the composer."""
        message = self.branch.shown(key)[0]
        self._editing = key
        self.composer.set_editing(True)
        files = [Attachment(one["name"], one["text"]) for one in message.extra.get("attachments") or ()]
        self.composer.set_text(message.text, files)
        self.composer.edit.setFocus()

    def _edit_last(self) -> None:
        asked = [message.id for message in self.branch.path if message.role == "user"]
        if asked and not self.branch.answering:
            self.edit(asked[-1])

    def _end_edit(self) -> None:
        self._editing = None
        self.composer.set_editing(False)
        self.composer.set_text("")

    def _pick_files(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, tr("Attach text files"))
        self.attach([Path(name) for name in names])

    def attach(self, paths: list[Path]) -> None:
        """Attach text files; one that cannot be is named in a notice."""
        for path in paths:
            try:
                self.composer.add(read_attachment(path))
            except AttachmentError as problem:
                self._context.frame.toast(str(problem))

    def _draft_changed(self) -> None:
        parts = [one.text for one in self.composer.attachments]
        self.count.set_draft("\n".join([*parts, self.composer.text()]).strip())

    # -- options and overflow ----------------------------------------------------------

    def _options(self) -> tuple[str, Sampling]:
        current = self._context.conversations.current
        return (current.system, current.sampling) if current is not None else self._draft_options

    def _toggle_options(self) -> None:
        self.options.show_options(*self._options())
        self.options.setVisible(not self.options.isVisible())
        if self.options.isVisible():
            self.options.system.setFocus()

    def _options_edited(self, system: str, sampling: Sampling) -> None:
        if self._context.conversations.current is None:
            self._draft_options = (system, sampling)
        else:
            self._context.conversations.set_options(system, sampling)
            self.count.watch_history(lambda: self.branch.request_messages())

    def _larger_context(self) -> None:
        """Twice the context, or as much as the message needs; the model is loaded again with it."""
        preferences, wanted = self._context.preferences, 2 * self.count.limit
        while wanted < self.count.total + 1024:
            wanted *= 2
        preferences["engine_settings"] = {**preferences["engine_settings"], "context_length": wanted}
        self.overflow.hide()
        self._context.session.reload()
        self._send_what_is_written()

    def _drop_oldest(self) -> None:
        self.branch.drop_oldest(self.count.total, self.count.limit)
        self._send_what_is_written()

    def _move_to_new(self) -> None:
        text, files = self.composer.text(), list(self.composer.attachments)
        self.overflow.hide()
        self._context.conversations.begin()
        self.composer.set_text(text, files)

    def _send_what_is_written(self) -> None:
        """Send what waits in the composer, or answer the last question again when the engine refused it as too long."""
        text, files = self.composer.text().strip(), list(self.composer.attachments)
        self.overflow.hide()
        if text or files:
            self.composer.set_text("")
            self.send(text, files)
        else:
            self._regenerate()

    # -- state -------------------------------------------------------------------------

    def _opened(self) -> None:
        self.overflow.hide()
        if self._editing is not None:
            self._end_edit()
        self._draft_options = ("", Sampling())
        self.branch.open()
        self.options.show_options(*self._options())
        self.composer.edit.setFocus()

    def _answering_changed(self) -> None:
        answering = self.branch.answering
        self.composer.set_answering(answering)
        self._context.actions["answer.stop"].setEnabled(answering)
        for name in ("answer.regenerate", "answer.continue", "edit.last"):
            self._context.actions[name].setEnabled(not answering)
        key = self.branch.answering_key
        if key is not None:
            self.messages.keep(key, True)
            widget = self.messages.widget(key)
            if widget is not None and not widget.streaming:
                self.messages.rebuild(key)
        self._show_waiting()

    def _engine_changed(self, state: State) -> None:
        self._demo.setVisible(is_demo(self._context.session.wanted))
        if state in (State.READY, State.EMPTY):
            self.count.recount()
        self._show_waiting()

    def _show_waiting(self) -> None:
        self._waiting.show_state(self.branch.waiting, self.branch.unanswered is not None)

    def _show_count(self) -> None:
        count = self.count
        words = f"{number(count.total)} / {number(count.limit)}" if count.limit else ""
        self.composer.show_count(words, not fits(count.total, count.limit, self._options()[1].max_tokens))

    def bottom_height(self) -> int:
        """What toasts must not cover: everything below the messages."""
        return self.height() - self._stack.geometry().bottom()

    def resizeEvent(self, event: object) -> None:
        """The composer is as wide as the message column."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        for widget in self._columns:
            widget.setMaximumWidth(self.messages.column_limit())
