"""A trained correction of the lookahead, as it is kept in the user's data folder, one small file per model.

The lookahead applies the router of a layer some layers early. A correction adds to that router, for one layer and
distance, a matrix of low rank and a bias: it knows what the layers in between usually add. It decides what is read
early and nothing else. A file is used only if it is whole, of this model and of this shape, and its numbers are finite.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import GannetError

FORMAT = "gannet-lookahead"
VERSION = 1
MOST_DISTANCES = 4
MOST_RANK = 256
# Far beyond any fit: keeps products of a damaged file's numbers finite.
LARGEST = 1e3
_MOST_BYTES = 1 << 30

Floats = npt.NDArray[np.float32]
Place = tuple[int, int]  # (number of the layer among the streamed ones, distance in layers)


class CorrectionError(GannetError):
    """A correction that cannot be read, does not belong to the model, or cannot be written."""


@dataclasses.dataclass(frozen=True)
class Correction:
    """What is added to a router: `up` [N, r] times `down` [r, E], and `bias` [N] to the logits; float32, contiguous."""

    up: Floats
    down: Floats
    bias: Floats

    def check(self, n_experts: int, width: int) -> None:
        """Raise ValueError unless shapes fit a router [n_experts, width] and all numbers are usable."""
        rank = self.down.shape[0]
        if rank > MOST_RANK or self.up.shape != (n_experts, rank) or self.down.shape != (rank, width):
            raise ValueError("shapes do not fit the model")
        if self.bias.shape != (n_experts,):
            raise ValueError("shapes do not fit the model")
        for array in (self.up, self.down, self.bias):
            if array.dtype != np.float32 or not np.isfinite(array).all() or (np.abs(array) > LARGEST).any():
                raise ValueError("a number is not finite or beyond all measure")


@dataclasses.dataclass(frozen=True)
class LookaheadCorrection:
    """All corrections of one model, by its fingerprint (`engine.census.fingerprint`)."""

    model: str
    n_layers: int
    n_experts: int
    width: int
    parts: Mapping[Place, Correction]

    def check(self) -> None:
        """Raise ValueError unless everything fits."""
        for (layer, distance), part in self.parts.items():
            if not (0 < distance <= MOST_DISTANCES and distance <= layer < self.n_layers):
                raise ValueError("a layer or distance is out of range")
            part.check(self.n_experts, self.width)

    def save(self, path: Path) -> None:
        """Write it beside and move it into place. Raises CorrectionError."""
        header = {"format": FORMAT, "version": VERSION, "model": self.model, "n_layers": self.n_layers}
        header |= {"n_experts": self.n_experts, "width": self.width, "places": sorted(self.parts)}
        arrays: dict[str, npt.NDArray[Any]] = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
        for (layer, distance), part in self.parts.items():
            for name, array in dataclasses.asdict(part).items():
                arrays[f"{name}_{layer}_{distance}"] = array
        part_path = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with part_path.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]  # numpy types its own flag only
                file.flush()
                os.fsync(file.fileno())
            os.replace(part_path, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                part_path.unlink(missing_ok=True)
            raise CorrectionError(f"{path}: cannot be written ({error.strerror}); free some space") from error


def place_of(folder: Path, model: str) -> Path:
    """Where the correction of the model with this fingerprint lies, below the engine's own folder."""
    return folder / "lookahead" / f"{model}.npz"


def load(path: Path, model: str, n_layers: int, n_experts: int, width: int) -> LookaheadCorrection | None:
    """The correction of the model with this fingerprint and this shape; None if there is no file.

    Raises CorrectionError, one line with the cure, for a file that is damaged, too large or of another model.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too large")
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            correction = _from_arrays(arrays)
        shape = (correction.n_layers, correction.n_experts, correction.width)
        if (correction.model, *shape) != (model, n_layers, n_experts, width):
            raise ValueError("it is of another model")
        correction.check()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CorrectionError(f"{path}: cannot be read ({error.strerror or 'not a correction'})") from error
    except (
        ValueError, KeyError, EOFError, TypeError, AttributeError, MemoryError, OverflowError, zipfile.BadZipFile,
        zlib.error, RuntimeError,  # the last from zipfile too, about methods and passwords that it reads out of damage
    ) as error:  # fmt: skip
        raise CorrectionError(f"{path}: not used ({error}); make it again with gannet fit-lookahead") from error
    return correction


def _from_arrays(arrays: Any) -> LookaheadCorrection:
    header = json.loads(arrays["header"].tobytes())
    if header["format"] != FORMAT or header["version"] != VERSION:
        raise ValueError("another version")
    parts = {}
    for layer, distance in header["places"]:
        found = (np.ascontiguousarray(arrays[f"{name}_{layer}_{distance}"]) for name in ("up", "down", "bias"))
        parts[int(layer), int(distance)] = Correction(*found)
    return LookaheadCorrection(header["model"], header["n_layers"], header["n_experts"], header["width"], parts)
