"""The heat map's content: uses and residency of every expert as arrays, in the order that is shown. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ExpertGrid:
    """Layers down, experts across.

    Attributes:
        uses: look-ups of each expert, (layers, experts) int64.
        resident: in memory now, (layers, experts) bool.
        last_use: token number of the last use, -1 for never, (layers, experts) int64.
        order: expert id shown in each column, (layers, experts) int64.
    """

    uses: NDArray[np.int64]
    resident: NDArray[np.bool_]
    last_use: NDArray[np.int64]
    order: NDArray[np.int64]

    @property
    def layers(self) -> int:
        """Rows."""
        return int(self.uses.shape[0])

    @property
    def experts(self) -> int:
        """Columns."""
        return int(self.uses.shape[1])

    def brightness(self) -> NDArray[np.float64]:
        """Use of every shown cell from 0 to 1, per layer and on a root scale, so that rare use is still visible."""
        shown = np.take_along_axis(self.uses, self.order, axis=1).astype(np.float64)
        busiest = np.maximum(shown.max(axis=1, keepdims=True), 1.0)
        scaled: NDArray[np.float64] = np.sqrt(shown / busiest)
        return scaled

    def shown_resident(self) -> NDArray[np.bool_]:
        """Residency of every shown cell."""
        return np.take_along_axis(self.resident, self.order, axis=1)

    def cell(self, row: int, column: int) -> Cell:
        """What the shown cell stands for; raises IndexError outside the map."""
        if not (0 <= row < self.layers and 0 <= column < self.experts):
            raise IndexError(f"no cell {row}, {column}")
        expert = int(self.order[row, column])
        uses = int(self.uses[row, expert])
        share = uses / max(1, int(self.uses[row].sum()))
        return Cell(row, expert, uses, share, bool(self.resident[row, expert]), int(self.last_use[row, expert]))


@dataclass(frozen=True)
class Cell:
    """One expert: its uses, its share of the layer's look-ups, whether it is in memory, token of its last use or -1."""

    layer: int
    expert: int
    uses: int
    share: float
    resident: bool
    last_use: int


def make_grid(expert_map: Mapping[str, Any], by_popularity: bool) -> ExpertGrid | None:
    """A grid from the engine's answer; None while it has none (dense model, none loaded). Ragged rows are filled."""
    uses = _rectangle(expert_map.get("uses"), 0)
    if uses is None:
        return None
    resident, last = _rectangle(expert_map.get("resident"), 0), _rectangle(expert_map.get("last_use"), -1)
    kept = np.zeros(uses.shape, dtype=bool) if resident is None or resident.shape != uses.shape else resident > 0
    last = np.full(uses.shape, -1) if last is None or last.shape != uses.shape else last
    if by_popularity:
        order = np.argsort(-uses, axis=1, kind="stable")
    else:
        order = np.broadcast_to(np.arange(uses.shape[1]), uses.shape)
    return ExpertGrid(uses, kept, last, order.astype(np.int64))


def _rectangle(rows: Any, filling: int) -> NDArray[np.int64] | None:
    if not isinstance(rows, (list, tuple)) or not rows:
        return None
    width = max((len(row) for row in rows), default=0)
    if width == 0:
        return None
    return np.array([[*map(int, row), *([filling] * (width - len(row)))] for row in rows], dtype=np.int64)
