"""A layer's router as stock llama.cpp's graph shows it: what turns the router's input into selection scores."""

from __future__ import annotations

import dataclasses

import numpy as np

from engine.trace.graph import Tensor
from engine.trace.hidden import ADD, GATINGS, Floats, gate


@dataclasses.dataclass(frozen=True)
class Router:
    """What turns the router's input into selection scores.

    `weight` [N, E]; `norm` [E] is the learnt scale of the norm in front of it; `steps` are applied in order, each a
    gating's name or `ADD` with a bias [N].
    """

    weight: Floats
    norm: Floats
    steps: tuple[tuple[str, Floats | None], ...]

    def scores(self, router_input: Floats) -> Floats:
        """Selection scores [N] for one token's normalised and scaled residual stream [E]."""
        scores: Floats = self.weight @ router_input
        for name, bias in self.steps:
            scores = gate(name, scores) if bias is None else scores + bias
        return scores

    def without_norm(self, router_input: Floats) -> Floats:
        """The residual stream at unit root mean square [E], for another layer's norm."""
        return np.asarray(router_input / np.where(self.norm == 0, np.inf, self.norm), np.float32)


def _steps(top: Tensor, logits: Tensor) -> tuple[tuple[str, Floats | None], ...] | None:
    """Operations from the router's product down to the top-k; None if one of them is not understood."""
    steps: list[tuple[str, Floats | None]] = []
    node: Tensor | None = top
    while node is not None and node.pointer != logits.pointer:
        if node.op in GATINGS:
            steps.append((node.op, None))
        elif node.op == "ADD" and (leaf := node.source(1)) is not None and (bias := leaf.rows()) is not None:
            if leaf.op != "NONE":
                return None
            steps.append((ADD, bias.reshape(-1)))
        elif node.op not in ("ARGSORT", "TOP_K", "VIEW", "RESHAPE", "CONT"):
            return None
        node = node.source(0)
    return tuple(reversed(steps)) if node is not None else None


def _norm_scale(router_input: Tensor) -> Floats | None:
    """The learnt scale of the norm that made the router's input; None if another thing made it."""
    source, scale = router_input.source(0), router_input.source(1)
    if router_input.op != "MUL" or source is None or source.op != "RMS_NORM" or scale is None:
        return None
    rows = scale.rows()
    return None if rows is None or scale.op != "NONE" else np.asarray(rows.reshape(-1), np.float32)


def understand(product: Tensor, top: Tensor) -> Router | None:
    """The router between a layer's norm and its top-k; None if something in its graph is not understood."""
    weight, source = product.source(0), product.source(1)
    if weight is None or source is None:
        return None
    matrix, norm, steps = weight.rows(), _norm_scale(source), _steps(top, product)
    return None if matrix is None or norm is None or steps is None else Router(matrix, norm, steps)
