"""One window per user: a second start asks the first to come to the front and ends."""

from __future__ import annotations

import hashlib
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

WAIT_MS = 1000
MESSAGE = b"raise"


class SingleInstance(QObject):
    """Holds the place of the one running program for `folder` (its data).

    Signals: `raise_asked` when it was started a second time.
    """

    raise_asked = Signal()

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = "gannet-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None

    def claim(self) -> bool:
        """Become the one; False when another runs, which has been asked to come to the front."""
        if not self._lock.tryLock(0) and not (self._lock.removeStaleLockFile() and self._lock.tryLock(0)):
            self._ask_first()
            return False
        QLocalServer.removeServer(self._name)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._called)
        self._server.listen(self._name)
        return True

    def release(self) -> None:
        """Let another start."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._lock.unlock()

    def _ask_first(self) -> None:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if socket.waitForConnected(WAIT_MS):
            socket.write(MESSAGE)
            socket.waitForBytesWritten(WAIT_MS)
            socket.disconnectFromServer()

    def _called(self) -> None:
        assert self._server is not None
        socket = self._server.nextPendingConnection()
        if socket is not None:
            socket.disconnected.connect(socket.deleteLater)
            self.raise_asked.emit()
