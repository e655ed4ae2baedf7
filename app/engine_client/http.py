"""Requests to the engine process: one `HttpChannel` per engine, one `Call` per request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QByteArray, QObject, QUrl, Signal
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkProxy, QNetworkReply, QNetworkRequest

from app.engine_client.problem import EngineProblem, problem_from_body
from app.i18n import tr

HTTP_ERRORS = 400
"""Statuses from here on are refusals."""


class Call(QObject):
    """One request under way; lives until it has reported.

    Signals: `done(content)` with the decoded JSON (or None when the body is empty), or `failed(EngineProblem)`.
    """

    done = Signal(object)
    failed = Signal(EngineProblem)

    def __init__(self, reply: QNetworkReply | None, parent: QObject) -> None:
        super().__init__(parent)
        self._reply = reply
        if reply is not None:
            reply.finished.connect(self._finished)

    def abort(self) -> None:
        """Drop the request; nothing is reported."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()
            self.deleteLater()

    def _finished(self) -> None:
        reply, self._reply = self._reply, None
        if reply is None:
            return
        problem = problem_of(reply)
        body = bytes(reply.readAll().data())
        reply.deleteLater()
        if problem is None:
            try:
                self.done.emit(json.loads(body) if body else None)
            except ValueError:
                problem = EngineProblem(tr("The engine sent an answer that could not be read."), "bad_answer", 200)
        if problem is not None:
            self.failed.emit(problem)
        self.deleteLater()


class HttpChannel(QObject):
    """Where the engine is and the key it wants. Never uses a proxy: the engine is on this computer."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._network = QNetworkAccessManager(self)
        self._network.setProxy(QNetworkProxy(QNetworkProxy.ProxyType.NoProxy))
        self._url = ""
        self._key = ""

    def point_at(self, url: str, key: str) -> None:
        """Use the engine at `url` (no slash at its end) with bearer token `key`."""
        self._url, self._key = url.rstrip("/"), key

    @property
    def url(self) -> str:
        """Address of the engine, "" while there is none."""
        return self._url

    def call(self, method: str, path: str, body: dict[str, Any] | None = None, timeout_ms: int = 30_000) -> Call:
        """Send a request whose answer is one JSON document."""
        return Call(self.send(method, path, body, timeout_ms), self)

    def send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        timeout_ms: int = 0,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> QNetworkReply:
        """Send a request and hand back Qt's reply, for answers that are streams. `timeout_ms` 0: none."""
        request = QNetworkRequest(QUrl(self._url + path))
        request.setRawHeader(b"Authorization", b"Bearer " + self._key.encode())
        request.setHeader(QNetworkRequest.KnownHeaders.ContentTypeHeader, "application/json")
        request.setRawHeader(b"User-Agent", b"Gannet-Window")
        request.setTransferTimeout(timeout_ms)
        for name, value in headers.items():
            request.setRawHeader(name.encode(), value.encode())
        content = QByteArray(json.dumps(body).encode("utf-8")) if body is not None else QByteArray()
        return self._network.sendCustomRequest(request, method.encode(), content)


def problem_of(reply: QNetworkReply) -> EngineProblem | None:
    """What went wrong with a finished reply, None when it went well. Reads the body of a failed one."""
    if reply.error() == QNetworkReply.NetworkError.NoError:
        return None
    status = int(reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute) or 0)
    if status == 0:
        return EngineProblem(tr("The engine does not answer. Restart it from the Model menu."), "no_answer", 0)
    if status < HTTP_ERRORS:  # it had begun to answer
        return EngineProblem(tr("The answer broke off: the engine closed the connection."), "broken_off", status)
    fallback = tr("The engine refused the request (HTTP {status}).").format(status=status)
    return problem_from_body(bytes(reply.readAll().data()), status, fallback)
