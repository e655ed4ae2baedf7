"""A model as it lies on the drive: one file or the parts of a split, with what their headers say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.gguf.experts import ExpertTensor, expert_tensors, layer_of
from engine.gguf.header import Header
from engine.gguf.tensors import TensorInfo
from engine.gguf.types import ValueType


@dataclass(frozen=True)
class ModelFiles:
    """A model's files, checked.

    Attributes:
        paths: the files in order; llama.cpp is given the first.
        sizes: their lengths in bytes.
        metadata: the first file's values by key; long arrays read themselves when looked into.
        value_types: types of the values (of the elements for an array).
        tensors: of all files; `TensorInfo.file` indexes `paths`.
    """

    paths: tuple[Path, ...]
    sizes: tuple[int, ...]
    metadata: Mapping[str, Any]
    value_types: Mapping[str, ValueType]
    tensors: tuple[TensorInfo, ...]

    @classmethod
    def from_headers(cls, headers: Sequence[Header]) -> ModelFiles:
        """Join the headers of a model's files, the first one first."""
        first = headers[0]
        tensors = tuple(tensor for header in headers for tensor in header.tensors)
        sizes = tuple(header.size for header in headers)
        return cls(tuple(header.path for header in headers), sizes, first.metadata, first.value_types, tensors)

    @property
    def path(self) -> Path:
        """The file that stands for the model: the first."""
        return self.paths[0]

    @property
    def total_bytes(self) -> int:
        """Bytes on the drive."""
        return sum(self.sizes)

    @property
    def tensor_bytes(self) -> int:
        """Bytes of all weights."""
        return sum(tensor.nbytes for tensor in self.tensors)

    @property
    def architecture(self) -> str:
        """`general.architecture`; "" where the file has none."""
        value = self.metadata.get("general.architecture")
        return value if isinstance(value, str) else ""

    @property
    def name(self) -> str:
        """The model's name for a person, from the metadata or else from the file's name."""
        value = self.metadata.get("general.name")
        if isinstance(value, str) and value.strip():
            return value.strip()
        return self.path.stem

    @property
    def chat_template(self) -> str | None:
        """The Jinja template that turns messages into a prompt, if the model brings one."""
        value = self.metadata.get("tokenizer.chat_template")
        return value if isinstance(value, str) and value.strip() else None

    @property
    def n_layer(self) -> int:
        """Blocks that a token passes; those that only predict further tokens (MTP) are not loaded and do not count."""
        return max(0, self.number("block_count") - self.number("nextn_predict_layers"))

    @property
    def n_expert(self) -> int:
        """Routed experts per layer; 0 for a model without."""
        return self.number("expert_count")

    @property
    def n_expert_used(self) -> int:
        """Experts that work on a token in each layer, at most."""
        return max(self.per_layer("expert_used_count"), default=0)

    @property
    def context_length(self) -> int:
        """Tokens of context the model was made for; 0 if unknown."""
        return self.number("context_length")

    @property
    def n_embd(self) -> int:
        """Width of the residual stream."""
        return self.number("embedding_length")

    @property
    def n_vocab(self) -> int:
        """Tokens in the vocabulary."""
        tokens = self.metadata.get("tokenizer.ggml.tokens")
        return len(tokens) if isinstance(tokens, Sequence) else self.number("vocab_size")

    def number(self, key: str, default: int = 0) -> int:
        """The architecture's whole number `key` (without its prefix); the largest of a per-layer list."""
        return max(self.per_layer(key), default=default)

    def per_layer(self, key: str) -> tuple[int, ...]:
        """The architecture's number `key` for each layer, or one number for all, or () where the file has none."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        return tuple(int(v) for v in values if isinstance(v, int))

    def experts(self) -> tuple[ExpertTensor, ...]:
        """The routed experts, ordered by layer; empty for a model without."""
        return self._experts

    @cached_property
    def _experts(self) -> tuple[ExpertTensor, ...]:
        return expert_tensors(self.tensors)

    def is_loaded(self, tensor: TensorInfo) -> bool:
        """Whether llama.cpp loads it: blocks behind the last one that a token passes are left in the file."""
        layer = layer_of(tensor.name)
        return layer is None or self.n_layer == 0 or layer < self.n_layer
