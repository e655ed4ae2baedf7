"""Finding model files: pure scan of folders on disk, split files shown once, no file opened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SPLIT_NAME = re.compile(r"^(?P<stem>.+)-(?P<part>\d{5})-of-(?P<count>\d{5})\.gguf$", re.IGNORECASE)
_SKIPPED_FOLDERS = frozenset({"$recycle.bin", "system volume information", "node_modules", "lost+found"})
_QUANTIZATION = re.compile(r"(?:^|[-._])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|BF16|F16|F32|MXFP4(?:_MOE)?))$", re.IGNORECASE)


@dataclass(frozen=True)
class ModelFile:
    """One model as the user sees it: a file, or all parts of a split one.

    Attributes:
        path: the file, or the first part present of a split.
        name: file name without ending and part number.
        size: bytes of all parts present.
        modified_ns: newest modification time of any part, in ns.
        parts_present, parts_expected: 1 and 1 unless split.
    """

    path: Path
    name: str
    size: int
    modified_ns: int
    parts_present: int = 1
    parts_expected: int = 1

    @property
    def complete(self) -> bool:
        """False while parts of a split file are missing (a download in progress, a forgotten copy)."""
        return self.parts_present == self.parts_expected

    @property
    def quantization(self) -> str:
        """Quantization as the file name says it ("Q4_K_M"), empty when it does not."""
        found = _QUANTIZATION.search(self.name)
        return found.group(1).upper() if found else ""


@dataclass
class ScanResult:
    """Models found under one folder, and the sub-folders that could not be read."""

    models: list[ModelFile] = field(default_factory=list)
    unreadable: list[Path] = field(default_factory=list)


@dataclass(frozen=True)
class _Found:
    path: Path
    size: int
    modified_ns: int


def scan(folder: Path) -> ScanResult:
    """Every model under `folder`, at any depth, ordered by name. Never raises for what it cannot read."""
    result = ScanResult()
    splits: dict[tuple[Path, str, int], dict[int, _Found]] = {}
    for found in _gguf_files(folder, result.unreadable):
        split = SPLIT_NAME.match(found.path.name)
        if split is None:
            if not found.path.name.lower().startswith("mmproj"):
                result.models.append(ModelFile(found.path, found.path.stem, found.size, found.modified_ns))
            continue
        key = (found.path.parent, split["stem"], int(split["count"]))
        splits.setdefault(key, {})[int(split["part"])] = found
    result.models += [_joined(stem, count, parts) for (_, stem, count), parts in splits.items()]
    result.models.sort(key=lambda model: (model.name.casefold(), str(model.path)))
    return result


def _joined(stem: str, count: int, parts: dict[int, _Found]) -> ModelFile:
    first = parts[min(parts)]
    return ModelFile(
        path=first.path,
        name=stem,
        size=sum(part.size for part in parts.values()),
        modified_ns=max(part.modified_ns for part in parts.values()),
        parts_present=len(parts),
        parts_expected=count,
    )


def _gguf_files(folder: Path, unreadable: list[Path]) -> Iterator[_Found]:
    """Walk without following folder links (no loops); links to files are models, as hub caches keep them."""
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError:
            unreadable.append(current)
            continue
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if not _skipped(entry.name):
                        waiting.append(Path(entry.path))
                elif entry.name.lower().endswith(".gguf") and entry.is_file():
                    info = entry.stat()
                    yield _Found(Path(entry.path), info.st_size, info.st_mtime_ns)
            except OSError:
                unreadable.append(Path(entry.path))


def _skipped(name: str) -> bool:
    return name.startswith(".") or name.casefold() in _SKIPPED_FOLDERS
