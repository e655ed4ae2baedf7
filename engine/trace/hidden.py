"""What a router saw, kept beside a trace: the residual stream in front of every router, and the routers themselves.

`gannet fit-lookahead` learns from these pairs of (residual stream at one layer, choice of a later layer). A residual
stream can be turned back into the text it came from: a trace with hidden states is as private as its conversation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def gate(name: str, logits: Floats) -> Floats:
    """A router's gating by ggml's name of the operation, over the last axis."""
    if name == "SOFT_MAX":
        powers = np.exp(logits - logits.max(-1, keepdims=True))
        return np.asarray(powers / powers.sum(-1, keepdims=True), np.float32)
    if name == "SIGMOID":
        return np.asarray(1 / (1 + np.exp(-logits)), np.float32)
    if name == "SOFTPLUS":
        return np.asarray(np.logaddexp(0, logits), np.float32)
    if name == "SQRT":
        return np.asarray(np.sqrt(logits), np.float32)
    raise KeyError(name)


GATINGS = ("SOFT_MAX", "SIGMOID", "SOFTPLUS", "SQRT")
ADD = "ADD"


@dataclasses.dataclass(frozen=True)
class HiddenStates:
    """Of the first H tokens of a trace; L layers, E the width of the residual stream, N experts.

    Attributes:
        stream: float16 [H, L, E], at unit root mean square, before the norm's learnt scale.
        matrix: float16 [L, N, E], the routers with that scale folded in; zeros for one that is not understood.
        bias: float32 [L, N], of the one addition among the steps; zeros where there is none.
        steps: for each layer what turns logits into selection scores, in order: names of `GATINGS`, or `ADD`
            for the bias; None for a router that is not understood.
        model: the model's fingerprint; empty where nobody said.
    """

    stream: npt.NDArray[np.float16]
    matrix: npt.NDArray[np.float16]
    bias: Floats
    steps: tuple[tuple[str, ...] | None, ...]
    model: str = ""

    def check(self, tokens: int, layers: int, n_experts: int) -> None:
        """Raise ValueError unless these belong to such a trace."""
        known, depth, width = self.stream.shape
        shapes = known <= tokens and depth == layers == len(self.steps)
        shapes = shapes and self.matrix.shape == (layers, n_experts, width) and self.bias.shape == (layers, n_experts)
        if not shapes:
            raise ValueError("shapes of the hidden states disagree")
        if not {name for steps in self.steps for name in steps or ()} <= {*GATINGS, ADD}:
            raise ValueError("a router's gating is not known")

    def inputs(self, layer: int) -> Floats:
        """[H, E]: the residual stream in front of the router of the layer at this place."""
        return np.asarray(self.stream[:, layer], np.float32)

    def router(self, layer: int) -> Floats:
        """[N, E]: the router of the layer at this place."""
        return np.asarray(self.matrix[layer], np.float32)

    def scores(self, layer: int, logits: Floats) -> Floats:
        """Selection scores [..., N] from logits of the layer's router. Raises ValueError if it is not understood."""
        steps = self.steps[layer]
        if steps is None:
            raise ValueError("not understood")
        for step in steps:
            logits = np.asarray(logits + self.bias[layer] if step == ADD else gate(step, logits), np.float32)
        return logits

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What to store in the trace's file."""
        return {"hidden_stream": self.stream, "hidden_matrix": self.matrix, "hidden_bias": self.bias}

    def header(self) -> dict[str, Any]:
        """What to store in the header of the trace's file."""
        return {"steps": self.steps, "model": self.model}


def from_file(arrays: dict[str, npt.NDArray[Any]], header: Mapping[str, Any] | None) -> HiddenStates | None:
    """Take the hidden states out of a file's arrays; None if it has none. Raises KeyError or TypeError."""
    if header is None:
        return None
    stream, matrix, bias = (arrays.pop(f"hidden_{name}") for name in ("stream", "matrix", "bias"))
    steps = tuple(None if names is None else tuple(map(str, names)) for names in header["steps"])
    return HiddenStates(stream, matrix, bias, steps, str(header["model"]))
