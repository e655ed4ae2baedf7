"""Downloads under way and done: rate, time left, pause, and a sentence with a cure for whatever stops one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFrame, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from app.context import AppContext
from app.i18n import tr
from app.models.downloads.state import Download, Status
from app.page_parts.figures_as_words import duration_text, rate_text, size_text
from app.page_parts.labels import button, discard, icon_button, label, row, set_role
from app.page_parts.page_frame import Column
from app.page_parts.state_view import StateView
from app.theme.tokens import GRID

REASONS: dict[str, str] = {
    "not-found": "The hub no longer has {detail}. Remove this download and look for the model again.",
    "needs-login": "The owner of {detail} wants you to accept the licence on the hub's site and log in first.",
    "offline": "The hub cannot be reached. Check the connection; what is here already is kept.",
    "stalled": "The hub stopped sending. What is here already is kept; try again later.",
    "no-space": "The drive is too full: {size} more are needed. Make room, then go on; nothing is lost.",
    "wrong-hash": "What arrived is not what the hub promised, so it was deleted. Download it again.",
    "cannot-write": "The file cannot be written: {detail}",
    "server": "The download stopped: {detail}. What is here already is kept.",
}
"""What stopped a download, why, and what to do (source texts)."""


def reason_text(reason: str, detail: str) -> str:
    """The sentence for a failure."""
    size = size_text(int(detail)) if detail.isdigit() else detail
    return tr(REASONS.get(reason, REASONS["server"])).format(detail=detail or "?", size=size)


class DownloadCard(QFrame):
    """One download."""

    def __init__(self, context: AppContext, key: str) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._context, self._key = context, key
        self._title = label("", "heading")
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._text = label("", "soft", wrap=True)
        self._toggle = button("", self._toggle_pressed)
        self._remove = icon_button(context.theme, "close", tr("Remove"), lambda: context.downloads.remove(key))
        self._action: Callable[[], object] = lambda: None
        words = QVBoxLayout()
        words.setSpacing(GRID // 2 + 2)
        for item in (self._title, self._bar, self._text):
            words.addWidget(item)
        whole = row(self._toggle, self._remove)
        whole.insertLayout(0, words, 1)
        whole.setContentsMargins(2 * GRID, GRID + 4, GRID + 4, GRID + 4)
        self.setLayout(whole)

    def show_download(self, download: Download) -> None:
        """Show its present state."""
        self._title.setText(download.name)
        self._title.setToolTip(f"{download.repository}\n{download.folder}")
        self._bar.setValue(int(1000 * download.done / max(1, download.total)))
        self._bar.setVisible(download.status is not Status.DONE)
        self._bar.setAccessibleName(tr("Progress of {name}").format(name=download.name))
        self._text.setText(self._words(download))
        set_role(self._text, "bad" if download.status is Status.FAILED else "soft")
        queue = self._context.downloads
        text, self._action = {
            Status.RUNNING: (tr("Pause"), lambda: queue.pause(self._key)),
            Status.WAITING: (tr("Pause"), lambda: queue.pause(self._key)),
            Status.PAUSED: (tr("Go on"), lambda: queue.resume(self._key)),
            Status.FAILED: (tr("Try again"), lambda: queue.resume(self._key)),
            Status.DONE: (tr("Use"), lambda: self._use(download.path)),
        }[download.status]
        self._toggle.setText(text)
        self._toggle.setAccessibleName(f"{text}: {download.name}")

    def _words(self, download: Download) -> str:
        sizes = tr("{done} of {total}").format(done=size_text(download.done), total=size_text(download.total))
        if download.status is Status.FAILED:
            return reason_text(download.reason, download.detail)
        if download.status is Status.DONE:
            return tr("{total}, complete and checked").format(total=size_text(download.total))
        if download.status is Status.PAUSED:
            return tr("Paused at {sizes}").format(sizes=sizes)
        if download.status is Status.WAITING:
            return tr("Waiting for its turn, {sizes}").format(sizes=sizes)
        if download.phase == "check":
            return tr("Checking what is here already, {sizes}").format(sizes=sizes)
        rate = self._context.downloads.rate(self._key)
        left = rate.seconds_left(download.total)
        if left is None:
            return sizes
        return tr("{sizes}, {rate}, {time} left").format(
            sizes=sizes, rate=rate_text(rate.bytes_per_s), time=duration_text(left)
        )

    def _toggle_pressed(self) -> None:
        self._action()

    def _use(self, path: str) -> None:
        self._context.session.use_model(path)
        self._context.frame.show_place("chat")


class DownloadsTab(QWidget):
    """All downloads."""

    def __init__(self, context: AppContext, go_to_catalogue: Callable[[], object]) -> None:
        super().__init__()
        self._context = context
        self._go_to_catalogue = go_to_catalogue
        self._cards: dict[str, DownloadCard] = {}
        self._state = StateView(context.theme)
        self._list = Column()
        self._list.body.addStretch(1)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._list)
        self._stack.addWidget(self._state)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._stack)
        context.downloads.changed.connect(self._changed)

    def refresh(self) -> None:
        """Show every download as it is now."""
        downloads = self._context.downloads.downloads()
        keys = [download.key for download in downloads]
        for key in [key for key in self._cards if key not in keys]:
            discard(self._cards.pop(key))
        for at, download in enumerate(reversed(downloads)):
            if download.key not in self._cards:
                self._cards[download.key] = DownloadCard(self._context, download.key)
                self._list.body.insertWidget(at, self._cards[download.key])
            self._cards[download.key].show_download(download)
        if not downloads:
            self._state.empty(
                "download", tr("No downloads"), tr("Models you download appear here, with their progress."),
                tr("Open the catalogue"), self._go_to_catalogue,
            )  # fmt: skip
        self._stack.setCurrentWidget(self._list if downloads else self._state)

    def _changed(self, key: str) -> None:
        if not self.isVisible():
            return
        download = self._context.downloads.download(key)
        if download is not None and key in self._cards:
            self._cards[key].show_download(download)
        else:
            self.refresh()


def running_count(context: AppContext) -> int:
    """Downloads that are not finished, for the tab's name."""
    return sum(one.status is not Status.DONE for one in context.downloads.downloads())


def folder_choice(context: AppContext) -> Path:
    """Where the next download goes: the library folder the user chose last, if it is still there."""
    stored = Path(str(context.preferences["extra"].get("download_folder", "")))
    return stored if stored in context.shelf.folder_paths() and stored.is_dir() else context.shelf.downloads_folder
