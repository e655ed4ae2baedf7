"""A routing trace: which experts each token's routers chose, and what they would have guessed early.

The file is a compressed npz with a JSON header, or the journal that a running engine writes (`engine.trace.journal`).
Everything is routing, nothing is text: the tokens themselves are not in it.

Arrays (T tokens in order of evaluation, L streamed layers, K experts used, W ranks, D distances, N experts):

* ``batch`` int32 [T]: number of the evaluation (ubatch) that a token was part of, not decreasing.
* ``decoded`` bool [T]: the token was generated (evaluated alone), not part of a prompt.
* ``ranked`` uint16 [T, L, W]: experts by the layer's own router, best first; the first K ran. ``NONE`` where a running
  engine did not compute a prompt's token (in the last layer: all but the last).
* ``predicted`` uint16 [T, L, D, W]: the layer's router applied 1..D layers earlier, best first;
  ``NONE`` where there is no prediction (prompt tokens, first layers, routers that are not understood).
* ``score`` float16 [T, L, D, W]: the selection score (after gating and bias) of each prediction.
* ``router`` float16 [T, L, N], optional: all selection scores of the layer's own router.
* ``hidden_*``, optional: see `engine.trace.hidden`; with them a trace is as private as the conversation.
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
from engine.trace import journal
from engine.trace.hidden import HiddenStates, from_file
from engine.trace.journal import FORMAT, VERSION
from engine.trace.journal import NONE as NONE


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
    hidden: HiddenStates | None = None

    def __post_init__(self) -> None:
        tokens, layers, width = self.ranked.shape
        expected = (tokens, layers, self.predicted.shape[2], width)
        if layers != len(self.layers) or self.predicted.shape != expected or self.score.shape != expected:
            raise TraceError(f"trace of {self.model}: array shapes disagree; record it again with gannet trace")
        if self.batch.shape != (tokens,) or self.decoded.shape != (tokens,) or not 0 < self.n_used <= width:
            raise TraceError(f"trace of {self.model}: array shapes disagree; record it again with gannet trace")
        unseen = (self.selected == NONE) & ~self.decoded[:, None, None]
        if ((self.selected >= self.n_experts) & ~unseen).any():
            raise TraceError(f"trace of {self.model}: an expert number is out of range; record it again")
        if self.hidden is not None:
            try:
                self.hidden.check(tokens, layers, self.n_experts)
            except ValueError as error:
                raise TraceError(f"trace of {self.model}: {error}; record it again with gannet trace") from error

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
        header = {"format": FORMAT, "version": VERSION, "model": self.model, "layers": list(self.layers)}
        header |= {"n_experts": self.n_experts, "n_used": self.n_used}
        if self.hidden is not None:
            header["hidden"] = self.hidden.header()
        arrays: dict[str, npt.NDArray[Any]] = {
            name: getattr(self, name) for name in ("batch", "decoded", "ranked", "predicted", "score")
        }
        if self.router is not None:
            arrays["router"] = self.router
        if self.hidden is not None:
            arrays |= self.hidden.arrays()
        save = np.savez_compressed if self.hidden is None else np.savez  # hidden states hardly shrink
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        part = path.with_name(path.name + ".part")
        try:
            with open(part, "wb") as file:
                save(file, **arrays)  # type: ignore[arg-type]  # numpy types its own flag only
            os.replace(part, path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise TraceError(f"{path}: cannot write the trace ({error.strerror}); choose another --out") from error


def load(path: Path) -> RoutingTrace:
    """Read a trace. Raises TraceError, one line, for anything that is not a whole trace of this version."""
    try:
        header, arrays = _read(path)
    except OSError as error:
        raise TraceError(f"{path}: cannot read the trace ({error.strerror or 'not a trace file'})") from error
    except (
        ValueError,
        KeyError,
        EOFError,
        TypeError,
        AttributeError,
        MemoryError,
        OverflowError,
        zipfile.BadZipFile,
        zlib.error,
        RuntimeError,  # of zipfile's too, about methods and passwords that it reads out of a damaged file
    ) as error:
        raise TraceError(f"{path}: not a trace file; record one with gannet trace") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("version") != VERSION:
        raise TraceError(f"{path}: not a trace of version {VERSION}; record it again with gannet trace")
    try:
        return RoutingTrace(
            hidden=from_file(arrays, header.get("hidden")),
            model=header["model"],
            layers=tuple(header["layers"]),
            n_experts=header["n_experts"],
            n_used=header["n_used"],
            **arrays,
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise TraceError(f"{path}: the trace lacks a part; record it again with gannet trace") from error


def _read(path: Path) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    with path.open("rb") as file:
        if journal.is_journal(file.read(1)):
            return journal.parse(path.read_bytes())
        file.seek(0)
        with np.load(file, allow_pickle=False) as parts:
            arrays = {name: parts[name] for name in parts.files}
    return json.loads(arrays.pop("header").tobytes()), arrays
