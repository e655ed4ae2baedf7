"""What is known of the user's models between two scans: folders, files, header facts. Pure but for its one file.

A drive that is not there keeps its models here, marked as away; nothing is forgotten because a cable is out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.files import atomic_write, put_aside
from app.i18n import tr
from app.models.facts import ModelFacts
from app.models.library import ModelFile, ScanResult
from app.version import WRITER_KEY, program_version

VERSION = 1


@dataclass
class KnownFolder:
    """One folder of the library: whether it is there, what was found in it last, and what could not be read."""

    path: Path
    present: bool = True
    models: tuple[ModelFile, ...] = ()
    unreadable: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One model as the page shows it. `problem` says why its header could not be used; `away`: its drive is missing."""

    file: ModelFile
    folder: Path
    away: bool
    facts: ModelFacts | None
    problem: str

    @property
    def title(self) -> str:
        """The file's name; headers often carry names nobody recognises."""
        return self.file.name


@dataclass(frozen=True)
class _Known:
    size: int
    modified_ns: int
    facts: ModelFacts | None
    problem: str


@dataclass
class LibraryIndex:
    """Folders and facts. Facts belong to a path with a size and a time: a changed file is read again."""

    folders: dict[Path, KnownFolder] = field(default_factory=dict)
    note: str = ""
    _facts: dict[str, _Known] = field(default_factory=dict)

    def set_folders(self, paths: Iterable[Path]) -> None:
        """These folders make up the library, in this order; what is known of those that stay is kept."""
        self.folders = {path: self.folders.get(path, KnownFolder(path)) for path in paths}

    def scanned(self, path: Path, result: ScanResult | None) -> None:
        """Take the result of a scan; None: the folder is not there, and its models are away."""
        folder = self.folders.get(path)
        if folder is None:
            return
        folder.present = result is not None
        if result is not None:
            folder.models, folder.unreadable = tuple(result.models), tuple(result.unreadable)

    def add_file(self, path: Path, file: ModelFile) -> None:
        """A model that has just arrived in folder `path`, before the next scan."""
        folder = self.folders.get(path)
        if folder is not None:
            folder.models = (*(one for one in folder.models if one.path != file.path), file)

    def entries(self) -> tuple[Entry, ...]:
        """Every model once, even where library folders overlap; in order of name, those that are away last."""
        seen: dict[Path, Entry] = {}
        for folder in self.folders.values():
            for file in folder.models:
                if file.path not in seen or seen[file.path].away:
                    seen[file.path] = self._entry(file, folder)
        return tuple(sorted(seen.values(), key=lambda one: (one.away, one.title.casefold(), str(one.file.path))))

    def without_facts(self) -> tuple[ModelFile, ...]:
        """Models whose header has not been read since they changed."""
        return tuple(
            entry.file
            for entry in self.entries()
            if not entry.away and entry.file.complete and self._known(entry.file) is None
        )

    def set_facts(self, file: ModelFile, facts: ModelFacts | None, problem: str = "") -> None:
        """Remember what the header says, or why it cannot be used."""
        self._facts[str(file.path)] = _Known(file.size, file.modified_ns, facts, problem)

    def _known(self, file: ModelFile) -> _Known | None:
        known = self._facts.get(str(file.path))
        same = known is not None and (known.size, known.modified_ns) == (file.size, file.modified_ns)
        return known if same else None

    def _entry(self, file: ModelFile, folder: KnownFolder) -> Entry:
        known = self._known(file)
        return Entry(
            file, folder.path, not folder.present, known.facts if known else None, known.problem if known else ""
        )

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values. Facts of files that no folder has any more are dropped."""
        paths = {str(entry.file.path) for entry in self.entries()}
        folders = [
            {"path": str(one.path), "models": [_file_json(model) for model in one.models]}
            for one in self.folders.values()
        ]
        facts = {
            path: {
                "size": one.size,
                "modified_ns": one.modified_ns,
                "facts": one.facts.to_json() if one.facts else None,
                "problem": one.problem,
            }
            for path, one in self._facts.items()
            if path in paths
        }
        return {"version": VERSION, WRITER_KEY: program_version(), "folders": folders, "facts": facts}


def save_index(index: LibraryIndex, path: Path) -> None:
    """Write the index; raises OSError and leaves the old one."""
    atomic_write(path, json.dumps(index.to_json(), ensure_ascii=False).encode("utf-8"))


def load_index(path: Path) -> LibraryIndex:
    """The index of the last run; an empty one, with a note, when the file is broken (everything is found again)."""
    if not path.exists():
        return LibraryIndex()
    try:
        return _index(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError):
        aside = put_aside(path)
        return LibraryIndex(
            note=tr("The list of models could not be read; it is made again ({name}).").format(name=aside.name)
        )


def _index(content: Mapping[str, Any]) -> LibraryIndex:
    if content["version"] != VERSION:
        raise ValueError("another version")
    index = LibraryIndex()
    for item in content["folders"]:
        folder = KnownFolder(Path(item["path"]), models=tuple(_file(model) for model in item["models"]))
        index.folders[folder.path] = folder
    for path, item in content["facts"].items():
        facts = ModelFacts.from_json(item["facts"]) if item["facts"] else None
        index._facts[path] = _Known(int(item["size"]), int(item["modified_ns"]), facts, str(item["problem"]))
    return index


def _file_json(file: ModelFile) -> dict[str, Any]:
    return {**asdict(file), "path": str(file.path)}


def _file(data: Mapping[str, Any]) -> ModelFile:
    return ModelFile(**{**data, "path": Path(data["path"])})
