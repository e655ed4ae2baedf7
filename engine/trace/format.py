"""A routing trace: which experts each token's routers chose, and what they would have guessed early.

The file is a compressed npz with a JSON header. Everything is routing, nothing is text: the tokens
themselves are not in it, so a trace of a private chat says little about it.

Arrays (T tokens in order of evaluation, L streamed layers, K experts used, W ranks, D distances, N experts):

* ``batch`` int32 [T]: number of the evaluation (ubatch) that a token was part of, not decreasing.
* ``decoded`` bool [T]: the token was generated (evaluated alone), not part of a prompt.
* ``ranked`` uint16 [T, L, W]: experts by the layer's own router, best first; the first K ran.
* ``predicted`` uint16 [T, L, D, W]: the layer's router applied 1..D layers earlier, best first;
  ``NONE`` where there is no prediction (prompt tokens, first layers, routers that are not understood).
* ``score`` float16 [T, L, D, W]: the selection score (after gating and bias) of each prediction.
* ``router`` float16 [T, L, N], optional: all selection scores of the layer's own router.
"""

from __future__ import annotations

import dataclasses
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import GannetError

VERSION = 1
NONE = 0xFFFF


class TraceError(GannetError):
    """A trace file that is missing, damaged, or of another version."""


@dataclasses.dataclass(frozen=True)
class RoutingTrace:
    """Routing of a run; shapes as in the module's docstring. Arrays are read only by convention."""

    model: str
    layers: tuple[int, ...]
    n_experts: int
    n_used: int
    batch: npt.NDArray[np.int32]
    decoded: npt.NDArray[np.bool_]
    ranked: npt.NDArray[np.uint16]
    predicted: npt.NDArray[np.uint16]
    score: npt.NDArray[np.float16]
    router: npt.NDArray[np.float16] | None = None

    def __post_init__(self) -> None:
        tokens, layers, width = self.ranked.shape
        expected = (tokens, layers, self.predicted.shape[2], width)
        if layers != len(self.layers) or self.predicted.shape != expected or self.score.shape != expected:
            raise TraceError(f"trace of {self.model}: array shapes disagree; record it again with gannet trace")
        if self.batch.shape != (tokens,) or self.decoded.shape != (tokens,) or not 0 < self.n_used <= width:
            raise TraceError(f"trace of {self.model}: array shapes disagree; record it again with gannet trace")
        if tokens and int(self.selected.max()) >= self.n_experts:
            raise TraceError(f"trace of {self.model}: an expert number is out of range; record it again")

    @property
    def selected(self) -> npt.NDArray[np.uint16]:
        """[T, L, K]: the experts that ran, best first."""
        return self.ranked[:, :, : self.n_used]

    @property
    def n_experts_total(self) -> int:
        """Experts over all streamed layers: the size of a cache that holds everything."""
        return len(self.layers) * self.n_experts

    def save(self, path: Path) -> None:
        """Write the trace; an existing file is replaced only by a complete one."""
        header = {"format": "gannet-trace", "version": VERSION, "model": self.model, "layers": list(self.layers)}
        header |= {"n_experts": self.n_experts, "n_used": self.n_used}
        arrays: dict[str, npt.NDArray[Any]] = {
            name: getattr(self, name) for name in ("batch", "decoded", "ranked", "predicted", "score")
        }
        if self.router is not None:
            arrays["router"] = self.router
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        part = path.with_name(path.name + ".part")
        try:
            with open(part, "wb") as file:
                np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # numpy types its own flag only
            os.replace(part, path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise TraceError(f"{path}: cannot write the trace ({error.strerror}); choose another --out") from error


def load(path: Path) -> RoutingTrace:
    """Read a trace. Raises TraceError, one line, for anything that is not a whole trace of this version."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            arrays = {name: parts[name] for name in parts.files}
        header = json.loads(arrays.pop("header").tobytes())
    except OSError as error:
        raise TraceError(f"{path}: cannot read the trace ({error.strerror or 'not a trace file'})") from error
    except (ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise TraceError(f"{path}: not a trace file; record one with gannet trace") from error
    if not isinstance(header, dict) or header.get("format") != "gannet-trace" or header.get("version") != VERSION:
        raise TraceError(f"{path}: not a trace of version {VERSION}; record it again with gannet trace")
    try:
        return RoutingTrace(
            model=header["model"],
            layers=tuple(header["layers"]),
            n_experts=header["n_experts"],
            n_used=header["n_used"],
            **arrays,
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise TraceError(f"{path}: the trace lacks a part; record it again with gannet trace") from error
