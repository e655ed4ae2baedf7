"""The engine's event stream: one long request, taken up again where it broke off."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QNetworkReply

from app.engine_client.http import HttpChannel
from app.engine_client.sse import SseParser

RETRY_MS = 500


class EventStream(QObject):
    """Listens to `/engine/events` while open.

    Signals: `arrived(name, content)` for each event, `lost()` whenever the connection broke (it is taken up again after
    `RETRY_MS`).
    """

    arrived = Signal(str, object)
    lost = Signal()

    def __init__(self, channel: HttpChannel) -> None:
        super().__init__(channel)
        self._channel = channel
        self._reply: QNetworkReply | None = None
        self._parser = SseParser()
        self._retry = QTimer(self)
        self._retry.setSingleShot(True)
        self._retry.setInterval(RETRY_MS)
        self._retry.timeout.connect(self._listen)

    def open(self) -> None:
        """Begin to listen, from now on."""
        self.close()
        self._parser = SseParser()
        self._listen()

    def close(self) -> None:
        """Stop listening."""
        self._retry.stop()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()

    def _listen(self) -> None:
        last_id = self._parser.last_id
        self._parser = SseParser()
        self._parser.last_id = last_id
        reply = self._channel.send("GET", "/engine/events", None, headers={"Last-Event-ID": last_id} if last_id else {})
        self._reply = reply
        reply.readyRead.connect(self._received)
        reply.finished.connect(self._broke)

    def _received(self) -> None:
        if self._reply is None:
            return
        for event in self._parser.feed(bytes(self._reply.readAll().data())):
            content = _decoded(event.data)
            if content is not None:
                self.arrived.emit(event.name, content)

    def _broke(self) -> None:
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.deleteLater()
            self._retry.start()
            self.lost.emit()


def _decoded(data: str) -> dict[str, Any] | None:
    try:
        content = json.loads(data)
    except ValueError:
        return None
    return content if isinstance(content, dict) else {"value": content}
