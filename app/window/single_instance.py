"""One window per user: a second start asks the first to come to the front, hands its files over, and ends."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

WAIT_MS = 1000
LONGEST_MESSAGE = 1 << 20


class SingleInstance(QObject):
    """Holds the place of the one running program for `folder` (its data).

    Signals: `raise_asked` when it was started a second time; `open_asked(path)` for each file that start was given.
    """

    raise_asked = Signal()
    open_asked = Signal(str)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = "gannet-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None
        self._callers: list[QLocalSocket] = []

    def claim(self, files: Sequence[str] = ()) -> bool:
        """Become the one; False when another runs, which has been asked to come to the front and open `files`."""
        if not self._lock.tryLock(0) and not (self._lock.removeStaleLockFile() and self._lock.tryLock(0)):
            self._ask_first(files)
            return False
        QLocalServer.removeServer(self._name)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._called)
        self._server.listen(self._name)
        return True

    def release(self) -> None:
        """Let another start."""
        self._callers.clear()
        if self._server is not None:
            self._server.close()
            self._server = None
        self._lock.unlock()

    def _ask_first(self, files: Sequence[str]) -> None:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if socket.waitForConnected(WAIT_MS):
            socket.write(json.dumps({"open": list(files)}).encode() + b"\n")
            socket.waitForBytesWritten(WAIT_MS)
            socket.disconnectFromServer()

    def _called(self) -> None:
        assert self._server is not None
        socket = self._server.nextPendingConnection()
        if socket is not None:
            self._callers.append(socket)
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(self._read)
            self.raise_asked.emit()
            self._read()  # what came before the signals were connected

    def _read(self) -> None:
        """Take what callers have said, and let go of those that have left."""
        for socket in tuple(self._callers):
            if socket.bytesAvailable() > LONGEST_MESSAGE:
                socket.abort()
            while socket.canReadLine():
                for path in _files(bytes(socket.readLine().data())):
                    self.open_asked.emit(path)
            if socket.state() == QLocalSocket.LocalSocketState.UnconnectedState and socket in self._callers:
                self._callers.remove(socket)
                socket.deleteLater()


def _files(line: bytes) -> list[str]:
    try:
        named = json.loads(line)["open"]
    except (ValueError, KeyError, TypeError):
        return []
    return [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
