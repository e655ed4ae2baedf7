"""The census: how often each expert of a model was ever selected, kept between sessions in the user's data folder.

Undecayed counts, one small file per model, named by a fingerprint of the model's files so that a renamed or moved
model keeps its census and another model never gets it. Several sessions may add to one census: each adds only what it
counted itself since it last saved. A damaged file is put aside, not lost and not trusted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.errors import GannetError
from engine.gguf import ModelFiles

VERSION = 1
_SAMPLE_BYTES = 256 << 10


class CensusError(GannetError):
    """A census that cannot be written."""


def fingerprint(files: ModelFiles) -> str:
    """32 hexadecimal digits that tell models apart: sizes of the files and the beginning and end of each.

    The beginning holds metadata and tensor names, the end holds weights; reads at most half a MiB per file.
    """
    digest = hashlib.sha256()
    for path in files.paths:
        size = path.stat().st_size
        digest.update(f"{size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLE_BYTES))
            file.seek(max(size - _SAMPLE_BYTES, 0))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:32]


@dataclasses.dataclass(frozen=True)
class Census:
    """Selections by layer and expert: `uses[layer * n_experts + expert]`, in rows, never decayed."""

    n_layers: int
    n_experts: int
    uses: tuple[int, ...]

    @classmethod
    def empty(cls, n_layers: int, n_experts: int) -> Census:
        """Nothing counted yet."""
        return cls(n_layers, n_experts, (0,) * (n_layers * n_experts))

    def plus(self, uses: Sequence[int]) -> Census:
        """This census and `uses` (same order and length) together."""
        if len(uses) != len(self.uses):
            raise ValueError(f"{len(uses)} counts for a census of {len(self.uses)}")
        return dataclasses.replace(self, uses=tuple(a + b for a, b in zip(self.uses, uses, strict=True)))

    def by_popularity(self) -> list[int]:
        """Keys of the experts that were ever selected, most selected first, ties by key."""
        return sorted((key for key, uses in enumerate(self.uses) if uses), key=lambda key: (-self.uses[key], key))


class CensusFile:
    """The census of one model on disk, and what this session has added to it already."""

    def __init__(self, folder: Path, model: str, n_layers: int, n_experts: int) -> None:
        self.path = folder / f"{model}.json"
        self._empty = Census.empty(n_layers, n_experts)
        self._saved: tuple[int, ...] = self._empty.uses

    def load(self) -> Census:
        """What is on disk; an empty census if there is none. A damaged file is renamed to end in `.damaged`."""
        try:
            raw = self.path.read_bytes()
        except OSError:
            return self._empty
        try:
            return self._parse(json.loads(raw))
        except (ValueError, TypeError, KeyError, RecursionError):
            with contextlib.suppress(OSError):
                os.replace(self.path, self.path.with_name(self.path.name + ".damaged"))
            return self._empty

    def _parse(self, data: Any) -> Census:
        uses = data["uses"]
        if data["version"] != VERSION or (data["n_layers"], data["n_experts"]) != (
            self._empty.n_layers,
            self._empty.n_experts,
        ):
            raise ValueError("another version or another model's shape")
        if len(uses) != len(self._empty.uses) or not all(type(n) is int and 0 <= n < 1 << 63 for n in uses):
            raise ValueError("not one count for each expert")
        return dataclasses.replace(self._empty, uses=tuple(uses))

    def save(self, session_uses: Sequence[int]) -> None:
        """Add what this session counted since its last save. `session_uses`: its counts since it began.

        Written beside and moved into place, so a crash leaves the old census or the new one. Raises CensusError.
        """
        fresh = [max(now - before, 0) for now, before in zip(session_uses, self._saved, strict=True)]
        if not any(fresh):
            return
        census = self.load().plus(fresh)
        data = {"version": VERSION, "n_layers": census.n_layers, "n_experts": census.n_experts, "uses": census.uses}
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("w", encoding="ascii") as file:
                json.dump(data, file, separators=(",", ":"))
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise CensusError(f"{self.path}: the census cannot be saved ({error.strerror}); free some space") from error
        self._saved = tuple(session_uses)
