"""A trace that grows while a model answers: a line of JSON, then one record of fixed size for each token.

What has been written is valid whenever the writing ends, by a crash too: a record that is cut is not read. The records
are the native core's (`routing_tap.h`); `engine.trace.format.load` reads such a file like any other trace.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import numpy.typing as npt

FORMAT = "gannet-trace"
VERSION = 1
NONE = 0xFFFF
_MOST_HEADER_BYTES = 1 << 16


@dataclasses.dataclass(frozen=True)
class JournalHeader:
    """What the records mean: the streamed layers' blocks, experts of the widest layer, experts used, distances."""

    model: str
    layers: tuple[int, ...]
    n_experts: int
    n_used: int
    distances: int

    def encode(self) -> bytes:
        """The file's first line."""
        return json.dumps({"format": FORMAT, "version": VERSION, **dataclasses.asdict(self)}).encode() + b"\n"

    @property
    def record(self) -> np.dtype[np.void]:
        """One token's record, as `routing_tap.h` lays it out."""
        chosen = (len(self.layers), self.n_used)
        return np.dtype(
            [
                ("graph", "<u4"),
                ("decoded", "<u2"),
                ("zero", "<u2"),
                ("selected", "<u2", chosen),
                ("guessed", "<u2", (chosen[0], self.distances, self.n_used)),
            ]
        )


def is_journal(beginning: bytes) -> bool:
    """Whether a file that begins so is one."""
    return beginning.startswith(b"{")


def parse(data: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Header and arrays (names and shapes of `RoutingTrace`) of a journal, cut or whole.

    Raises ValueError, KeyError or TypeError for anything else. A decoded token of which some layer is missing is
    left out; layers that a prompt's token did not reach are `NONE`.
    """
    line, newline, rest = data.partition(b"\n")
    if not newline or len(line) > _MOST_HEADER_BYTES:
        raise ValueError("no header")
    facts = json.loads(line)
    header = JournalHeader(
        facts["model"], tuple(facts["layers"]), facts["n_experts"], facts["n_used"], facts["distances"]
    )
    record = header.record
    tokens = np.frombuffer(rest, record, len(rest) // record.itemsize)
    decoded = tokens["decoded"] == 1
    tokens = tokens[~decoded | (tokens["selected"] != NONE).all(axis=(1, 2))]
    guessed = tokens["guessed"]
    if header.distances == 0:
        guessed = np.full((len(tokens), len(header.layers), 1, header.n_used), NONE, np.uint16)
    arrays = {
        "batch": tokens["graph"].astype(np.int32),
        "decoded": tokens["decoded"] == 1,
        "ranked": tokens["selected"].astype(np.uint16),
        "predicted": guessed.astype(np.uint16),
        "score": np.zeros(guessed.shape, np.float16),
    }
    return facts, arrays
