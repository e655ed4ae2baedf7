"""The index of routed experts: the tensors that are streamed, and how many bytes one expert takes in each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from engine.gguf.tensors import TensorInfo

_EXPERT = re.compile(r"blk\.(\d+)\.ffn_(gate|up|down|gate_up)_(ch)?exps\.weight")
_LAYER = re.compile(r"blk\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class ExpertTensor:
    """All experts of one projection of one layer; expert `e` lies at `offset_of(e)`, contiguous.

    Attributes:
        layer: number of the block.
        projection: "gate", "up", "down" or "gate_up" (both in one).
        chunked: whether these are the smaller experts that some models have beside the ordinary ones (`chexps`).
        tensor: the tensor they lie in; its shape is (row, rows, experts).
        n_expert: how many there are.
        bytes_per_expert: length of one.
    """

    layer: int
    projection: str
    chunked: bool
    tensor: TensorInfo
    n_expert: int
    bytes_per_expert: int

    @property
    def rows(self) -> int:
        """Rows of one expert's matrix."""
        return self.tensor.shape[1]

    def offset_of(self, expert: int) -> int:
        """Where the expert's bytes begin, from the start of the tensor's file."""
        return self.tensor.offset + expert * self.bytes_per_expert


def is_expert(name: str) -> bool:
    """Whether a tensor holds routed experts. Their biases do not count: they are small and stay in memory."""
    return _EXPERT.fullmatch(name) is not None


def layer_of(name: str) -> int | None:
    """The block a tensor belongs to; None for embeddings and the output."""
    found = _LAYER.match(name)
    return int(found[1]) if found else None


def expert_tensors(tensors: Iterable[TensorInfo]) -> tuple[ExpertTensor, ...]:
    """The routed experts among the tensors, ordered by layer and then as in the file."""
    found = [expert for tensor in tensors if (expert := _as_expert(tensor)) is not None]
    return tuple(sorted(found, key=lambda expert: expert.layer))


def _as_expert(tensor: TensorInfo) -> ExpertTensor | None:
    match = _EXPERT.fullmatch(tensor.name)
    if match is None:
        return None
    # A file drops trailing dimensions of one: a single expert has a two-dimensional tensor.
    n_expert = tensor.shape[2] if len(tensor.shape) > 2 else 1
    return ExpertTensor(int(match[1]), match[2], match[3] is not None, tensor, n_expert, tensor.nbytes // n_expert)
