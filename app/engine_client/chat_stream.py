"""One streaming chat answer from `/v1/chat/completions`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QNetworkReply, QNetworkRequest

from app.engine_client.http import HttpChannel, problem_of
from app.engine_client.problem import EngineProblem, problem_from_body
from app.engine_client.sse import SseParser
from app.i18n import tr


@dataclass
class ChatResult:
    """How an answer ended.

    Attributes: `finish_reason` as the API names it ("stop", "length", "tool_calls", "cancelled" when the user stopped
    it); `usage` and `timings` as the engine sent them (see the HTTP contract), empty when it did not get that far.
    """

    finish_reason: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, Any] = field(default_factory=dict)


def _refused(reply: QNetworkReply) -> bool:
    """Whether what arrives is no answer but the reason for having none."""
    return int(reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute) or 0) >= 400


class ChatStream(QObject):
    """An answer on its way.

    Signals: `text(piece)`, `thinking(piece)`, `tool_call(index, name, arguments_piece)` as pieces arrive; then once
    `finished(ChatResult)` or `failed(EngineProblem)`.
    """

    text = Signal(str)
    thinking = Signal(str)
    tool_call = Signal(int, str, str)
    finished = Signal(object)
    failed = Signal(object)

    def __init__(self, channel: HttpChannel, body: dict[str, Any]) -> None:
        super().__init__(channel)
        self._parser = SseParser()
        self._result = ChatResult()
        self._complete = False
        request = {**body, "stream": True, "stream_options": {"include_usage": True}}
        self._reply: QNetworkReply | None = channel.send("POST", "/v1/chat/completions", request)
        self._reply.readyRead.connect(self._received)
        self._reply.finished.connect(self._ended)

    def stop(self) -> None:
        """Stop the answer: the connection closes, the engine notices and is free again. Reports `finished`."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()
            self._result.finish_reason = "cancelled"
            self.finished.emit(self._result)
            self.deleteLater()

    def _received(self) -> None:
        if self._reply is None or _refused(self._reply):
            return
        for event in self._parser.feed(bytes(self._reply.readAll().data())):
            if event.data == "[DONE]":
                self._complete = True
            elif not self._take(event.data):
                return

    def _take(self, data: str) -> bool:
        """Handle one chunk; False when the answer has ended with it."""
        try:
            chunk = json.loads(data)
        except ValueError:
            return True
        if "error" in chunk:
            self._fail(problem_from_body(data.encode(), 200, tr("The answer broke off.")))
            return False
        self._result.usage = chunk.get("usage") or self._result.usage
        self._result.timings = chunk.get("timings") or self._result.timings
        for choice in chunk.get("choices") or ():
            self._result.finish_reason = choice.get("finish_reason") or self._result.finish_reason
            self._spread(choice.get("delta") or {})
            if self._reply is None:
                return False
        return True

    def _spread(self, delta: dict[str, Any]) -> None:
        if delta.get("reasoning_content"):
            self.thinking.emit(delta["reasoning_content"])
        if delta.get("content"):
            self.text.emit(delta["content"])
        for call in delta.get("tool_calls") or ():
            function = call.get("function") or {}
            self.tool_call.emit(call.get("index", 0), function.get("name") or "", function.get("arguments") or "")

    def _fail(self, problem: EngineProblem) -> None:
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()
            self.failed.emit(problem)
            self.deleteLater()

    def _ended(self) -> None:
        self._received()
        reply = self._reply
        if reply is None:
            return
        problem = problem_of(reply)
        if problem is None and not self._complete and not self._result.finish_reason:
            problem = EngineProblem(tr("The answer broke off: the engine closed the connection."), "broken_off", 200)
        if problem is not None:
            self._fail(problem)
            return
        self._reply = None
        reply.deleteLater()
        self.finished.emit(self._result)
        self.deleteLater()
