"""What a repository on the hub offers: its GGUF files grouped into variants a person can choose from. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from app.models.library import SPLIT_NAME, ModelFile


@dataclass(frozen=True)
class RemoteFile:
    """One file of a repository. `size` in bytes; `sha256` from the hub's LFS record, None for small plain files."""

    path: str
    size: int
    sha256: str | None


@dataclass(frozen=True)
class Variant:
    """One quantization of a model: a file, or all parts of a split one."""

    name: str
    quantization: str
    files: tuple[RemoteFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Listing:
    """A repository at one commit, so that parts of a split file always belong together."""

    repository: str
    commit: str
    licence: str
    variants: tuple[Variant, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Listing:
        """Inverse of to_json; raises KeyError or TypeError for anything else."""
        variants = tuple(
            Variant(item["name"], item["quantization"], tuple(RemoteFile(**file) for file in item["files"]))
            for item in data["variants"]
        )
        return cls(data["repository"], data["commit"], data["licence"], variants)


def group_variants(files: Iterable[RemoteFile]) -> tuple[Variant, ...]:
    """Group GGUF files into variants, smallest first. Vision projectors and incomplete splits are left out."""
    groups: dict[str, list[RemoteFile]] = {}
    expected: dict[str, int] = {}
    for file in sorted(files, key=lambda file: file.path):
        name = PurePosixPath(file.path).name
        if not name.lower().endswith(".gguf") or name.lower().startswith("mmproj"):
            continue
        split = SPLIT_NAME.match(name)
        stem = split["stem"] if split else name[: -len(".gguf")]
        key = str(PurePosixPath(file.path).parent / stem)
        expected[key] = int(split["count"]) if split else 1
        groups.setdefault(key, []).append(file)
    variants = [
        Variant(PurePosixPath(key).name, _quantization(key), tuple(parts))
        for key, parts in groups.items()
        if len(parts) == expected[key]
    ]
    return tuple(sorted(variants, key=lambda variant: (variant.size, variant.name)))


def _quantization(key: str) -> str:
    stem = PurePosixPath(key).name
    return ModelFile(Path(stem), stem, 0, 0).quantization
