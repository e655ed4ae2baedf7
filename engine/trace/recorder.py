"""Record a routing trace with stock llama.cpp: plain mode, nothing of ours in the computation.

llama.cpp's evaluation callback shows each layer's router product and its top-k. From the product we take the
router's input; from the graph between the two, how logits become selection scores. Applying a later layer's
norm, router and gating to an earlier layer's input gives the prediction the engine would make there.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.trace.format import NONE, RoutingTrace
from engine.trace.graph import Tensor
from engine.trace.hidden import Floats
from engine.trace.router import Router, understand
from engine.trace.streams import StreamKeeper

Ids = npt.NDArray[np.uint16]

_WATCHED = re.compile(r"(ffn_moe_logits|ffn_moe_topk)-(\d+)")


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
        self._streams = StreamKeeper(hidden_bytes)
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
            self._routers[layer] = None if product is None else understand(product, node)

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
        self._streams.keep([self._routers[i] for i in layers], [self._inputs.get(i) for i in layers], rows)
        if self._all_scores:
            parts["router"].append(np.stack([self._own_scores(i, rows) for i in layers], axis=1))

    def _own_scores(self, layer: int, rows: int) -> npt.NDArray[np.float16]:
        """[rows, N]; zeros for a router that is not understood."""
        router = self._routers[layer]
        if router is None:
            return np.zeros((rows, self._n_experts), np.float16)
        return np.stack([router.scores(row) for row in self._inputs[layer]]).astype(np.float16)

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
        hidden = self._streams.states([self._routers[layer] for layer in layers], self._n_experts)
        return RoutingTrace(model, layers, self._n_experts, self._n_used, **arrays, hidden=hidden)


_ARRAYS = ("batch", "decoded", "ranked", "predicted", "score", "router")
