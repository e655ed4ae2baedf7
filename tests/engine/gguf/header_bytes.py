"""Builds GGUF files by hand, byte for byte, so that each can be wrong in exactly one place."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.gguf.types import GGML_TYPES, SCALAR_FORMATS, ValueType

F32, F16, Q4_K = 0, 1, 12
EXPERTS, USED, WIDTH = 4, 2, 256


def text(value: str | bytes) -> bytes:
    """A string as GGUF stores it."""
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def scalar(kind: ValueType, value: Any) -> bytes:
    """One value without its type."""
    return text(value) if kind is ValueType.STRING else struct.pack("<" + SCALAR_FORMATS[kind], value)


def entry(key: str | bytes, kind: ValueType, value: Any) -> bytes:
    """A metadata entry; a list becomes an array of `kind`."""
    if isinstance(value, list):
        items = b"".join(scalar(kind, item) for item in value)
        return text(key) + struct.pack("<IIQ", ValueType.ARRAY, kind, len(value)) + items
    return text(key) + struct.pack("<I", kind) + scalar(kind, value)


@dataclass
class Tensor:
    """A tensor's row; `offset` None means where it belongs."""

    name: str | bytes
    shape: tuple[int, ...]
    type_id: int = F32
    offset: int | None = None
    n_dims: int | None = None

    def nbytes(self) -> int:
        """Bytes of data for a row that makes sense, 0 otherwise."""
        kind = GGML_TYPES.get(self.type_id)
        total = 1
        for length in self.shape:
            total *= length
        return 0 if kind is None or not 0 < total < 1 << 30 else kind.row_bytes(total)

    def row(self, offset: int) -> bytes:
        """The row in the header."""
        n_dims = len(self.shape) if self.n_dims is None else self.n_dims
        dims = struct.pack(f"<{len(self.shape)}q", *self.shape)
        place = offset if self.offset is None else self.offset
        return text(self.name) + struct.pack("<I", n_dims) + dims + struct.pack("<IQ", self.type_id, place)


@dataclass
class GgufBytes:
    """A file that is right unless told otherwise: a tiny qwen3moe with four experts in one layer."""

    values: dict[str, tuple[ValueType, Any]] = field(default_factory=lambda: dict(MODEL))
    tensors: list[Tensor] = field(default_factory=lambda: [*DENSE, *expert_tensors()])
    magic: bytes = b"GGUF"
    version: int = 3
    alignment: int = 32
    n_tensors: int | None = None
    n_values: int | None = None
    raw_values: bytes = b""
    missing_bytes: int = 0

    def header(self) -> bytes:
        """Everything before the tensors' data, without padding."""
        counts = (
            len(self.tensors) if self.n_tensors is None else self.n_tensors,
            len(self.values) if self.n_values is None else self.n_values,
        )
        parts = [self.magic, struct.pack("<I", self.version), struct.pack("<qq", *counts)]
        parts += [entry(key, *value) for key, value in self.values.items()]
        parts.append(self.raw_values)
        offset = 0
        for tensor in self.tensors:
            parts.append(tensor.row(offset))
            offset += _padded(tensor.nbytes(), self.alignment)
        return b"".join(parts)

    def size(self) -> int:
        """Length of the whole file."""
        data = sum(_padded(tensor.nbytes(), self.alignment) for tensor in self.tensors)
        return _padded(len(self.header()), self.alignment) + data - self.missing_bytes

    def build(self) -> bytes:
        """The whole file; the weights are zeros."""
        size = self.size()
        return self.header().ljust(size, b"\0")[:size]

    def write(self, path: Path) -> Path:
        """Write the file and return its path."""
        path.write_bytes(self.build())
        return path

    def with_value(self, key: str, kind: ValueType, value: Any) -> GgufBytes:
        """Set one metadata value."""
        self.values[key] = (kind, value)
        return self

    def without_value(self, key: str) -> GgufBytes:
        """Leave one metadata value out."""
        del self.values[key]
        return self


def _padded(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


MODEL: dict[str, tuple[ValueType, Any]] = {
    "general.architecture": (ValueType.STRING, "qwen3moe"),
    "general.name": (ValueType.STRING, "tiny"),
    "qwen3moe.block_count": (ValueType.UINT32, 1),
    "qwen3moe.context_length": (ValueType.UINT32, 512),
    "qwen3moe.embedding_length": (ValueType.UINT32, WIDTH),
    "qwen3moe.attention.head_count": (ValueType.UINT32, 4),
    "qwen3moe.attention.head_count_kv": (ValueType.UINT32, 2),
    "qwen3moe.expert_count": (ValueType.UINT32, EXPERTS),
    "qwen3moe.expert_used_count": (ValueType.UINT32, USED),
    "tokenizer.ggml.model": (ValueType.STRING, "gpt2"),
    "tokenizer.ggml.tokens": (ValueType.STRING, ["a", "b", "c"]),
}
DENSE = (
    Tensor("token_embd.weight", (WIDTH, 3), F16),
    Tensor("blk.0.ffn_gate_inp.weight", (WIDTH, EXPERTS), F32),
)


def expert_tensors(layer: int = 0, n_expert: int = EXPERTS, type_id: int = Q4_K) -> list[Tensor]:
    """The routed experts of one layer."""
    return [Tensor(f"blk.{layer}.ffn_{name}_exps.weight", (WIDTH, WIDTH, n_expert), type_id) for name in PROJECTIONS]


PROJECTIONS = ("gate", "up", "down")
