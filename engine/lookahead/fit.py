"""Fitting the lookahead's correction: reduced-rank ridge regression, layer by layer and distance by distance.

The router of layer l applied d layers early sees the residual stream x of layer l - d instead of its own. What it gets
wrong is regressed on x: with B the logits that it gives early and Y those it gives in its turn, the correction is the
matrix C that minimises ||Y - B - XC - b||^2 + lambda ||C||^2, its rank cut to r along the principal directions of the
fitted values (Izenman 1975, "Reduced-rank regression for the multivariate linear model"; with a ridge: Mukherjee and
Zhu 2011, "Reduced rank ridge regression and its kernel extensions"). lambda and r are chosen by recall on tokens that
the fit has not seen, and a correction that does not raise it there is dropped.

Pure: arrays in, arrays out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.lookahead.correction import Correction, Place
from engine.trace.format import RoutingTrace
from engine.trace.hidden import Floats, HiddenStates

RANKS = (0, 8, 32, 64)
RIDGES = (0.1, 1.0, 10.0, 100.0)  # lambda in units of the mean eigenvalue of X'X
WORTH = 0.002  # recall that a correction, or a larger one, has to add: it costs reads of its own from memory
SHARES = (0.6, 0.2)  # of the decoded tokens: fitted on, chosen by; the rest tests

Mask = npt.NDArray[np.bool_]
Ids = npt.NDArray[np.integer]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Recall at K on the test tokens, for one layer and distance: the router as it is, and corrected.

    `rank` is that of the correction, None where none was kept: then both recalls are the same.
    """

    layer: int
    distance: int
    without: float
    corrected: float
    rank: int | None


@dataclasses.dataclass(frozen=True)
class Split:
    """Which of the H tokens with hidden states are fitted on, chosen by and tested on, in order of time.

    Prompts are only fitted on: the lookahead works while decoding.
    """

    fit: Mask
    choose: Mask
    test: Mask

    @staticmethod
    def of(trace: RoutingTrace, hidden: HiddenStates) -> Split:
        """By time, so that a test token's neighbours were not fitted on. Raises ValueError for too few tokens."""
        decoded = trace.decoded[: len(hidden.stream)]
        places = np.flatnonzero(decoded)
        ends = [int(len(places) * share) for share in np.cumsum(SHARES)]
        if not 0 < ends[0] < ends[1] < len(places):
            raise ValueError("too few decoded tokens with hidden states")
        at = np.arange(len(decoded))
        first, second = places[ends[0]], places[ends[1]]
        return Split(at < first, decoded & (at >= first) & (at < second), decoded & (at >= second))


def recall(scores: Floats, selected: Ids) -> float:
    """Mean share of the K selected experts [T, K] among the K best of scores [T, N]."""
    k = selected.shape[1]
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    return float((best[:, :, None] == selected[:, None, :]).any(1).mean())


def _choose(without: float, tried: Iterable[tuple[Correction, float]]) -> Correction | None:
    """The smallest rank that a larger one does not beat by `WORTH` a step; None if none is worth it."""
    by_rank: dict[int, tuple[float, Correction]] = {}
    for part, found in tried:
        rank = len(part.down)
        if rank not in by_rank or found > by_rank[rank][0]:
            by_rank[rank] = found, part
    best, kept = without, None
    for _, (found, part) in sorted(by_rank.items(), key=lambda item: item[0]):
        if found > best + WORTH:
            best, kept = found, part
    return kept


@dataclasses.dataclass(frozen=True)
class _Basis:
    """Eigenvectors of the fitted tokens' centred second moments, for all ridges and distances of one layer.

    `x` [H, E] less its `mean`; `vectors` [E, M], `values` [M] of x'x, M at most the smaller of E and H.
    """

    mean: Floats
    x: Floats
    vectors: Floats
    values: Floats

    @staticmethod
    def of(x: Floats) -> _Basis:
        mean = x.mean(0)
        centred = x - mean
        if len(x) >= x.shape[1]:
            values, vectors = np.linalg.eigh(centred.T @ centred)
            return _Basis(mean, centred, vectors, np.maximum(values, 0))
        values, rows = np.linalg.eigh(centred @ centred.T)  # the same ones but those of nothing, and much sooner
        kept = values > 1e-6 * values[-1]
        values, rows = values[kept], rows[:, kept]
        return _Basis(mean, centred, centred.T @ rows / np.sqrt(values), values)

    def corrections(self, residual: Floats) -> Iterator[Correction]:
        """Every candidate for residuals [H, N] of the logits."""
        bias = residual.mean(0)
        projected = self.vectors.T @ (self.x.T @ (residual - bias))  # [M, N]
        yield Correction(_floats(np.zeros((len(bias), 0))), _floats(np.zeros((0, len(self.mean)))), _floats(bias))
        for ridge in RIDGES:
            mean = self.values.sum() / len(self.mean)
            shrunk = projected / (self.values + ridge * mean + 1e-12)[:, None]
            _, directions = np.linalg.eigh(projected.T @ shrunk)  # [N, N], ascending
            coefficients = self.vectors @ shrunk  # [E, N]
            for rank in RANKS[1:]:
                up = directions[:, -rank:]
                down = (coefficients @ up).T
                yield Correction(_floats(up), _floats(down), _floats(bias - up @ (down @ self.mean)))


class Fit:
    """Fits and tests corrections of one trace with hidden states. Raises ValueError where it holds too little."""

    def __init__(self, trace: RoutingTrace) -> None:
        if trace.hidden is None:
            raise ValueError("no hidden states")
        self._hidden = trace.hidden
        self._selected = trace.selected[: len(trace.hidden.stream)]
        self.split = Split.of(trace, trace.hidden)
        self.n_layers = len(trace.layers)

    def run(self, distances: Sequence[int]) -> Iterator[tuple[Outcome, Correction | None]]:
        """One outcome for each source layer and distance whose routers are understood, and the correction if kept."""
        for source in range(self.n_layers - 1):
            targets = [(source + d, d) for d in distances if source + d < self.n_layers]
            targets = [place for place in targets if self._understood(source) and self._understood(place[0])]
            if targets:
                x = self._hidden.inputs(source)
                basis = _Basis.of(x[self.split.fit])
                for place in targets:
                    yield self._fit(place, x, basis)

    def _understood(self, layer: int) -> bool:
        return self._hidden.steps[layer] is not None

    def _fit(self, place: Place, x: Floats, basis: _Basis) -> tuple[Outcome, Correction | None]:
        layer, distance = place
        router = self._hidden.router(layer)
        early, split = x @ router.T, self.split
        residual = self._hidden.inputs(layer)[split.fit] @ router.T - early[split.fit]

        def tried(part: Correction | None, tokens: Mask) -> float:
            added = 0.0 if part is None else x[tokens] @ part.down.T @ part.up.T + part.bias
            return recall(self._hidden.scores(layer, early[tokens] + added), self._selected[tokens, layer])

        kept = _choose(tried(None, split.choose), ((p, tried(p, split.choose)) for p in basis.corrections(residual)))
        without = tried(None, split.test)
        corrected = without if kept is None else tried(kept, split.test)
        return Outcome(layer, distance, without, corrected, None if kept is None else len(kept.down)), kept


def _floats(array: npt.NDArray[Any]) -> Floats:
    return np.ascontiguousarray(array, np.float32)
