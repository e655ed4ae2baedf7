"""The library at work: scans folders off the event loop, asks the engine for header facts, keeps the index on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine_client import EngineClient, EngineProblem
from app.files import data_folder
from app.models.inspection import facts_from_inspection
from app.models.library import ModelFile, ScanResult, scan
from app.models.library_index import Entry, KnownFolder, load_index, save_index
from app.preferences import Preferences
from app.tasks import Task, run_task

SAVE_AFTER_MS = 500


@dataclass
class _Scanned:
    folder: Path
    result: ScanResult | None


class Shelf(QObject):
    """The user's models.

    Attributes: `scanning`, whether a scan is under way; `note`, one line when the index had to be made again.
    Signals: `changed()` after entries, facts or the scanning state changed.
    """

    changed = Signal()

    def __init__(self, client: EngineClient, preferences: Preferences, index_path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._client, self._preferences, self._path = client, preferences, index_path
        self._index = load_index(index_path)
        self.note = self._index.note
        self._scans = 0
        self._asking: ModelFile | None = None
        self._save_soon = QTimer(self)
        self._save_soon.setSingleShot(True)
        self._save_soon.setInterval(SAVE_AFTER_MS)
        self._save_soon.timeout.connect(self.save)
        self._index.set_folders(self.folder_paths())
        client.allow_folders([str(folder) for folder in self.folder_paths()])
        client.state_changed.connect(self._ask_next)

    @property
    def scanning(self) -> bool:
        """Whether folders are being looked through."""
        return self._scans > 0

    @property
    def reading_headers(self) -> bool:
        """Whether the engine is being asked for facts."""
        return self._asking is not None

    @property
    def downloads_folder(self) -> Path:
        """Where downloads go unless the user chooses another library folder."""
        return data_folder() / "models"

    def folder_paths(self) -> tuple[Path, ...]:
        """The library's folders: the one for downloads, then those the user added."""
        return (self.downloads_folder, *map(Path, self._preferences["model_folders"]))

    def folders(self) -> tuple[KnownFolder, ...]:
        """State of every folder."""
        return tuple(self._index.folders.values())

    def entries(self) -> tuple[Entry, ...]:
        """Every known model."""
        return self._index.entries()

    def entry(self, path: str) -> Entry | None:
        """The model with this path."""
        return next((one for one in self.entries() if str(one.file.path) == path), None)

    def add_folder(self, folder: Path) -> None:
        """Make a folder part of the library and look through it."""
        if folder not in self.folder_paths():
            self._preferences["model_folders"] = [*self._preferences["model_folders"], str(folder)]
            self._index.set_folders(self.folder_paths())
            self._client.allow_folders([str(folder)])
        self._scan(folder)

    def remove_folder(self, folder: Path) -> None:
        """Take a folder out of the library; its files stay where they are."""
        self._preferences["model_folders"] = [one for one in self._preferences["model_folders"] if Path(one) != folder]
        self._index.set_folders(self.folder_paths())
        self._changed()

    def rescan(self) -> None:
        """Look through every folder again."""
        for folder in self.folder_paths():
            self._scan(folder)

    def save(self) -> None:
        """Write the index now. A disk that is full costs nothing but the next scan's time."""
        self._save_soon.stop()
        try:
            save_index(self._index, self._path)
        except OSError:
            self.note = ""

    def _scan(self, folder: Path) -> None:
        self._scans += 1
        run_task(self, lambda task: _look_through(folder, task), self._scanned, self._scan_failed)
        self.changed.emit()

    def _scanned(self, found: _Scanned) -> None:
        self._scans -= 1
        self._index.scanned(found.folder, found.result)
        self._changed()
        self._ask_next()

    def _scan_failed(self, problem: Exception) -> None:
        self._scans -= 1
        self.note = str(problem)
        self.changed.emit()

    def _ask_next(self, *_: Any) -> None:
        """One header at a time, so that the engine stays free for answers."""
        waiting: Sequence[ModelFile] = self._index.without_facts()
        if self._asking is not None or not waiting or not self._client.state.listening:
            return
        self._asking = waiting[0]
        call = self._client.inspect(str(self._asking.path))
        call.done.connect(self._answered)
        call.failed.connect(self._refused)

    def _answered(self, content: dict[str, Any]) -> None:
        file, self._asking = self._asking, None
        if file is not None:
            facts, problem = facts_from_inspection(content)
            self._index.set_facts(file, facts, problem)
            self._changed()
        self._ask_next()

    def _refused(self, problem: EngineProblem) -> None:
        file, self._asking = self._asking, None
        if problem.status == 0 or file is None:
            return  # the engine went away: asked again when it is back
        self._index.set_facts(file, None, problem.message)
        self._changed()
        self._ask_next()

    def _changed(self) -> None:
        self._save_soon.start()
        self.changed.emit()


def _look_through(folder: Path, task: Task) -> _Scanned:
    return _Scanned(folder, scan(folder) if folder.is_dir() else None)
