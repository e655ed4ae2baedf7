"""The model folders: which models there are, and the only way from a request's text to a path."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import one_line
from engine.server.errors import ApiError

_SPLIT = re.compile(r"-(\d{5})-of-(\d{5})$")
_DEEPEST = 4
_MOST_FILES = 20_000


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model file (the first part of a split one): its id for clients, path, size in bytes and time of change."""

    id: str
    path: Path
    nbytes: int
    changed: float


class ModelFolders:
    """Folders that may change while the service runs. Any thread."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._folders: list[Path] = []
        self._files: set[Path] = set()
        self.add(folders)

    def add(self, folders: Sequence[Path]) -> None:
        """Serve these folders too."""
        with self._lock:
            for folder in folders:
                absolute = _absolute(folder)
                if absolute not in self._folders:
                    self._folders.append(absolute)
            self._changed.notify_all()

    def add_file(self, path: Path) -> None:
        """Serve this one file, wherever it lies."""
        with self._lock:
            self._files.add(_absolute(path))

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders, absolute."""
        with self._lock:
            return tuple(self._folders)

    def models(self) -> list[ModelEntry]:
        """All models, by id. Two files of one name get ids with their folder's name before."""
        found: dict[Path, ModelEntry] = {}
        for path in (*self._files, *(path for folder in self.folders for path in _gguf_files(folder))):
            entry = _entry(path)
            if entry is not None:
                found.setdefault(path, entry)
        return _with_unique_ids(sorted(found.values(), key=lambda entry: (entry.id, str(entry.path))))

    def resolve(self, named: str, patience: float = 0.0) -> Path:
        """The path of a model named by id or path. Raises `ApiError` 404 outside the folders or if there is none.

        `patience`: seconds to wait for a folder that is being added on another way (the application's pipe).
        """
        path = self._find(named)
        if path is None and patience > 0:
            before = self.folders
            with self._lock:
                self._changed.wait_for(lambda: tuple(self._folders) != before, patience)
            path = self._find(named)
        if path is None:
            message = f"there is no model named {one_line(named)!r} in the model folders"
            raise ApiError(404, message, "model_not_found", param="model")
        return path

    def _find(self, named: str) -> Path | None:
        for entry in self.models():
            if entry.id == named:
                return entry.path
        path = self._inside(named)
        try:
            return path if path is not None and path.exists() else None
        except OSError:  # a name that is too long, a folder without permission
            return None

    def _inside(self, named: str) -> Path | None:
        if not named or "\0" in named or len(named) > 4096:
            return None
        for folder in self.folders:
            path = _absolute(folder / named)  # an absolute name stands for itself
            if path.is_relative_to(folder) or path in self._files:
                return path
        path = _absolute(Path(named))
        return path if path in self._files else None


def _absolute(path: Path) -> Path:
    """Absolute and without `..`; symbolic links stay: what a user linked into a model folder is meant to be served."""
    return Path(os.path.abspath(path))


def _gguf_files(folder: Path) -> Iterator[Path]:
    seen = 0
    base = len(folder.parts)
    for root, folders, files in os.walk(folder):
        if len(Path(root).parts) - base >= _DEEPEST:
            folders.clear()
        folders.sort()
        for name in sorted(files):
            seen += 1
            if seen > _MOST_FILES:
                return
            if name.lower().endswith(".gguf"):
                yield Path(root) / name


def _entry(path: Path) -> ModelEntry | None:
    split = _SPLIT.search(path.stem)
    if split is not None and int(split[1]) != 1:
        return None
    try:
        facts = path.stat()
    except OSError:
        return None
    return ModelEntry(one_line(_SPLIT.sub("", path.stem)), path, facts.st_size, facts.st_mtime)


def _with_unique_ids(entries: list[ModelEntry]) -> list[ModelEntry]:
    names = [entry.id for entry in entries]
    used: set[str] = set()
    unique = []
    for entry in entries:
        name = entry.id if names.count(entry.id) == 1 else f"{one_line(entry.path.parent.name)}/{entry.id}"
        if name in used:
            name = one_line(entry.path)
        used.add(name)
        unique.append(ModelEntry(name, entry.path, entry.nbytes, entry.changed))
    return unique
