"""Downloads at work: one child process each, state kept on disk so that a restart goes on where it was."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.files import atomic_write, put_aside
from app.i18n import tr
from app.models.downloads import state
from app.models.downloads.errors import Reason
from app.models.downloads.listing import Listing, Variant
from app.models.downloads.paths import part_files
from app.models.downloads.process import WorkerProcess
from app.models.downloads.rate import Rate
from app.models.downloads.state import Download, Status
from app.version import WRITER_KEY, program_version

VERSION = 1
SAVE_AFTER_MS = 1000


class DownloadQueue(QObject):
    """Every download the user asked for.

    Attributes: `note`, one line when the stored state was broken.
    Signals: `changed(key)` after anything about one download changed ("" for the list itself); `arrived(path)` when a
    model is complete.
    """

    changed = Signal(str)
    arrived = Signal(str)

    def __init__(self, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._path = path
        self.note = ""
        self._downloads: dict[str, Download] = {}
        self._workers: dict[str, WorkerProcess] = {}
        self._rates: dict[str, Rate] = {}
        self._began = False
        self._save_soon = QTimer(self)
        self._save_soon.setSingleShot(True)
        self._save_soon.setInterval(SAVE_AFTER_MS)
        self._save_soon.timeout.connect(self.save)
        self._read()

    def downloads(self) -> tuple[Download, ...]:
        """All downloads, oldest first."""
        return tuple(self._downloads.values())

    def download(self, key: str) -> Download | None:
        """One of them."""
        return self._downloads.get(key)

    def rate(self, key: str) -> Rate:
        """Its rate of the last seconds."""
        return self._rates.setdefault(key, Rate())

    def begin(self) -> None:
        """Let downloads of the last run go on; before this nothing touches the network."""
        self._began = True
        self._start_next()

    def add(self, listing: Listing, variant: Variant, folder: Path) -> Download:
        """Ask for a variant; one that is already on its way, or failed, goes on instead."""
        new = state.new_download(listing, variant, str(folder))
        known = self._downloads.get(new.key)
        if known is None or known.status is Status.DONE or known.commit != new.commit:
            self._take(new)
            self.changed.emit("")
        elif known.status in (Status.PAUSED, Status.FAILED):
            self._take(state.resumed(known))
        self._began = True
        self._start_next()
        return self._downloads[new.key]

    def pause(self, key: str) -> None:
        """Hold it; the bytes on disk stay."""
        download = self._downloads[key]
        if download.status in (Status.RUNNING, Status.WAITING):
            self._take(state.paused(download))
            self._end(key)

    def resume(self, key: str) -> None:
        """Go on after a pause or a failure."""
        download = self._downloads[key]
        if download.status in (Status.PAUSED, Status.FAILED):
            self._take(state.resumed(download))
            self._began = True
            self._start_next()

    def remove(self, key: str) -> None:
        """Forget it and delete what was not finished; finished models stay."""
        download = self._downloads.pop(key)
        self._end(key)
        if download.status is not Status.DONE:
            _delete_parts(download)
        self.changed.emit("")
        self._save_soon.start()

    def stop(self) -> None:
        """End every child process, at program end; running ones go on at the next start."""
        for key in list(self._workers):
            self._end(key, restart=False)
        self.save()

    def save(self) -> None:
        """Write the state now."""
        self._save_soon.stop()
        content = {
            "version": VERSION,
            WRITER_KEY: program_version(),
            "downloads": [one.to_json() for one in self._downloads.values()],
        }
        try:
            atomic_write(self._path, json.dumps(content, ensure_ascii=False).encode("utf-8"))
        except OSError as problem:
            self.note = tr("The list of downloads could not be saved: {problem}").format(problem=problem)

    def _start_next(self) -> None:
        while self._began and (download := state.next_to_start(self._downloads.values())) is not None:
            self._end(download.key, restart=False)
            self._take(state.started(download))
            self._rates[download.key] = Rate()
            worker = WorkerProcess(_job(download), self)
            worker.event.connect(lambda event, key=download.key, one=worker: self._event(key, one, event))
            worker.ended.connect(lambda key=download.key, one=worker: self._worker_ended(key, one))
            self._workers[download.key] = worker
            worker.start()

    def _event(self, key: str, worker: WorkerProcess, event: dict[str, Any]) -> None:
        download = self._downloads.get(key)
        if download is None or self._workers.get(key) is not worker:
            return  # a process that was replaced has nothing more to say
        if event["event"] == "progress":
            self.rate(key).add(time.monotonic(), int(event["done"]))
            self._take(state.progressed(download, int(event["done"]), str(event["phase"])))
        elif event["event"] == "failed":
            self._take(state.failed(download, str(event["reason"]), str(event["detail"])))
        elif event["event"] == "done":
            self._take(state.finished(download, str(event["path"])))
            self.arrived.emit(str(event["path"]))

    def _worker_ended(self, key: str, worker: WorkerProcess) -> None:
        if self._workers.get(key) is not worker:
            return
        del self._workers[key]
        download = self._downloads.get(key)
        if download is not None and download.status is Status.RUNNING:
            self._take(state.failed(download, Reason.SERVER.value, tr("the download process ended")))
        self._start_next()

    def _end(self, key: str, *, restart: bool = True) -> None:
        worker = self._workers.pop(key, None)
        if worker is not None:
            worker.end()
        if restart:
            self._start_next()

    def _take(self, download: Download) -> None:
        self._downloads[download.key] = download
        self._save_soon.start()
        self.changed.emit(download.key)

    def _read(self) -> None:
        if not self._path.exists():
            return
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            if content["version"] != VERSION:
                raise ValueError("another version")
            found = [Download.from_json(item) for item in content["downloads"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            aside = put_aside(self._path)
            self.note = tr("The list of downloads could not be read; it is kept as {name}.").format(name=aside.name)
            return
        self._downloads = {download.key: download for download in found}


def _job(download: Download) -> dict[str, Any]:
    return {
        "do": "fetch",
        "repository": download.repository,
        "commit": download.commit,
        "folder": download.folder,
        "files": download.to_json()["files"],
    }


def _delete_parts(download: Download) -> None:
    for path in part_files(download):
        path.unlink(missing_ok=True)
