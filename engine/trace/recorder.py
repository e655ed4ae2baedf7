"""Record a routing trace with stock llama.cpp: plain mode, nothing of ours in the computation.

llama.cpp's evaluation callback shows each layer's router product and its top-k. From the product we take the
router's input; from the graph between the two, how logits become selection scores. Applying a later layer's
norm, router and gating to an earlier layer's input gives the prediction the engine would make there.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.trace.format import NONE, RoutingTrace
from engine.trace.graph import Tensor
from engine.trace.hidden import ADD, GATINGS, HiddenStates, gate

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.uint16]

_WATCHED = re.compile(r"(ffn_moe_logits|ffn_moe_topk)-(\d+)")


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


def _understand(product: Tensor, top: Tensor) -> Router | None:
    """The router between a layer's norm and its top-k, or None if something in its graph is not understood."""
    weight, source = product.source(0), product.source(1)
    if weight is None or source is None:
        return None
    matrix, norm, steps = weight.rows(), _norm_scale(source), _steps(top, product)
    return None if matrix is None or norm is None or steps is None else Router(matrix, norm, steps)


class Recorder:
    """Collects a trace. Give `observe` to the evaluation callback, call `end_batch` after each evaluation.

    An evaluation is one ubatch, with an output wanted for each of its tokens (llama.cpp drops the others before
    its last layer). `width` ranks are kept per router, at least the experts used and twice as many if 0;
    predictions reach `distances` layers ahead. With `all_scores`, the own router's score of every expert is kept;
    of the first tokens up to `hidden_bytes`, what each router saw.
    """

    def __init__(self, width: int = 0, distances: int = 3, all_scores: bool = False, hidden_bytes: int = 0) -> None:
        self._width = width
        self._distances = distances
        self._all_scores = all_scores
        self._hidden_left = hidden_bytes
        self._streams: list[npt.NDArray[np.float16]] = []
        self._n_experts = 0
        self._n_used = 0
        self._routers: dict[int, Router | None] = {}
        self._products: dict[int, Tensor] = {}
        self._inputs: dict[int, Floats] = {}
        self._ranked: dict[int, Ids] = {}
        self._parts: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in _ARRAYS}

    def observe(self, pointer: int, ask: bool) -> bool:
        """llama.cpp's callback: asked, say which nodes are wanted; shown one, read it."""
        node = Tensor(pointer)
        match = _WATCHED.fullmatch(node.name)
        if ask or match is None:
            return match is not None or not ask
        layer = int(match[2])
        if match[1] == "ffn_moe_topk":
            self._see_selection(layer, node)
        else:
            self._products[layer] = node
            rows = source.rows() if (source := node.source(1)) is not None else None
            if rows is not None:
                self._inputs[layer] = rows
        return True

    def _see_selection(self, layer: int, node: Tensor) -> None:
        order = node.view_of or node
        ranked = order.rows()
        if ranked is None:
            return
        self._n_used, self._n_experts = node.shape[0], max(self._n_experts, order.shape[0])
        self._ranked[layer] = ranked.astype(np.uint16)
        if layer not in self._routers:
            product = self._products.get(layer)
            self._routers[layer] = None if product is None else _understand(product, node)

    def end_batch(self, decoded: bool) -> None:
        """The evaluation that was observed is complete."""
        layers = sorted(self._ranked)
        if layers:
            self._append(layers, decoded)
        self._products, self._inputs, self._ranked = {}, {}, {}

    def _append(self, layers: list[int], decoded: bool) -> None:
        width = min(max(self._width or 2 * self._n_used, self._n_used), self._n_experts)
        rows = len(self._ranked[layers[0]])
        experts = np.full((rows, len(layers), self._distances, width), NONE, np.uint16)
        scores = np.zeros(experts.shape, np.float16)
        if decoded:
            self._predict(layers, experts[-1], scores[-1])
        parts = self._parts
        number = int(parts["batch"][-1][-1]) + 1 if parts["batch"] else 0
        parts["batch"].append(np.full(rows, number, np.int32))
        parts["decoded"].append(np.full(rows, decoded))
        parts["ranked"].append(np.stack([self._ranked[i][:, :width] for i in layers], axis=1))
        parts["predicted"].append(experts)
        parts["score"].append(scores)
        if self._hidden_left > 0:
            self._keep_streams(layers, rows)
        if self._all_scores:
            parts["router"].append(np.stack([self._own_scores(i, rows) for i in layers], axis=1))

    def _own_scores(self, layer: int, rows: int) -> npt.NDArray[np.float16]:
        """[rows, N]; zeros for a router that is not understood."""
        router = self._routers[layer]
        if router is None:
            return np.zeros((rows, self._n_experts), np.float16)
        return np.stack([router.scores(row) for row in self._inputs[layer]]).astype(np.float16)

    def _keep_streams(self, layers: list[int], rows: int) -> None:
        """Keep [rows, L, E] of what the routers saw, or as many rows as there is room for: then no more."""
        width = max(self._inputs[layer].shape[1] for layer in layers)
        streams = np.zeros((rows, len(layers), width), np.float16)
        for at, layer in enumerate(layers):
            if (router := self._routers[layer]) is not None:
                streams[:, at] = router.without_norm(self._inputs[layer])
        kept = streams[: self._hidden_left // streams[0].nbytes]
        self._hidden_left = self._hidden_left - kept.nbytes if len(kept) == rows else 0
        self._streams.append(kept)

    def _hidden(self) -> HiddenStates | None:
        if not self._streams:
            return None
        routers = [self._routers[layer] for layer in sorted(self._routers)]
        stream = np.concatenate(self._streams)
        matrix = np.zeros((len(routers), self._n_experts, stream.shape[2]), np.float16)
        bias = np.zeros(matrix.shape[:2], np.float32)
        steps: list[tuple[str, ...] | None] = []
        for at, router in enumerate(routers):
            biases = [] if router is None else [b for _, b in router.steps if b is not None]
            if router is None or len(biases) > 1:
                steps.append(None)
                continue
            matrix[at] = router.weight * router.norm
            bias[at] = biases[0] if biases else 0.0
            steps.append(tuple(name for name, _ in router.steps))
        return HiddenStates(stream, matrix, bias, tuple(steps))

    def _predict(self, layers: list[int], experts: Ids, scores: npt.NDArray[np.float16]) -> None:
        """Fill in [L, D, W] experts and scores of one decoded token."""
        for at, layer in enumerate(layers):
            router = self._routers[layer]
            for distance in range(1, min(self._distances, at) + 1):
                source = self._routers[layers[at - distance]]
                if router is None or source is None:
                    continue
                score = router.scores(source.without_norm(self._inputs[layers[at - distance]][-1]) * router.norm)
                best = np.argsort(-score, kind="stable")[: experts.shape[2]]
                experts[at, distance - 1], scores[at, distance - 1] = best, score[best]

    def trace(self, model: str) -> RoutingTrace:
        """Everything recorded so far as one trace. Raises ValueError if no router was seen."""
        if not self._parts["batch"]:
            raise ValueError("no router was seen")
        arrays = {name: np.concatenate(parts) for name, parts in self._parts.items() if parts}
        layers = tuple(sorted(self._routers))
        return RoutingTrace(model, layers, self._n_experts, self._n_used, **arrays, hidden=self._hidden())


_ARRAYS = ("batch", "decoded", "ranked", "predicted", "score", "router")
