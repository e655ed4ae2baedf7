"""Help > Check for a newer release: asks once, when the user asks, and says what it heard. Downloads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkReply, QNetworkRequest

from app.i18n import tr
from app.releases import feed_address, is_newer, read_release
from app.version import program_version

if TYPE_CHECKING:
    from app.window.main_window import MainWindow

TIMEOUT_MS = 15_000
LONGEST_ANSWER = 1 << 20
ACTION = "help.updates"


class UpdateCheck(QObject):
    """Connects the action. Nothing goes out before it is triggered."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._network: QNetworkAccessManager | None = None
        self._reply: QNetworkReply | None = None
        window.context.actions.connect(ACTION, self.ask)
        window.closing.connect(self._stop)

    def ask(self) -> None:
        """Ask the releases page of this build."""
        address = feed_address()
        if not address:
            self._window.toast(tr("This build was made without the address of a releases page: it cannot ask."))
            return
        if self._reply is not None:
            return
        self._network = self._network or QNetworkAccessManager(self)
        request = QNetworkRequest(QUrl(address))
        request.setRawHeader(b"User-Agent", f"Gannet/{program_version()}".encode())
        request.setRawHeader(b"Accept", b"application/json")
        request.setTransferTimeout(TIMEOUT_MS)
        self._reply = self._network.get(request)
        self._reply.setReadBufferSize(LONGEST_ANSWER + 1)
        self._reply.readyRead.connect(self._bound)
        self._reply.finished.connect(self._answered)

    def _bound(self) -> None:
        if self._reply is not None and self._reply.bytesAvailable() > LONGEST_ANSWER:
            self._reply.abort()

    def _answered(self) -> None:
        reply, self._reply = self._reply, None
        if reply is None:
            return
        reply.deleteLater()
        if reply.error() != QNetworkReply.NetworkError.NoError:
            host = QUrl(reply.request().url()).host()
            text = tr("{host} did not say which release is the newest: {why}. Nothing has changed.")
            self._window.toast(text.format(host=host, why=reply.errorString()))
            return
        self._take(bytes(reply.readAll().data()))

    def _take(self, body: bytes) -> None:
        ours = program_version()
        try:
            release = read_release(body)
        except ValueError:
            self._window.toast(tr("The releases page sent an answer that names no release."))
            return
        if not is_newer(release, ours):
            self._window.toast(tr("This is the newest release ({version}).").format(version=ours))
            return
        text = tr(
            "Gannet {version} has been released; this is {ours}. Your chats, settings and models stay as they are."
        )
        page = release.page
        self._window.notice(
            "good",
            text.format(version=release.version, ours=ours),
            tr("Open its page") if page else "",
            (lambda: QDesktopServices.openUrl(QUrl(page))) if page else None,
        )

    def _stop(self) -> None:
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()
