"""The tensor types of GGUF files: id, name and how many bytes a block of weights takes.

Derived from the tables of the `gguf` package, less what it has wrong. A test compares every row with the installed
library.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

# Rows that the package does not have yet (Q2_0) or has wrong (Q8_1: two halves, not two floats, before the weights).
_OWN_ROWS = {9: ("Q8_1", 32, 2 + 2 + 32), 42: ("Q2_0", 64, 2 + 64 // 4)}  # id: (name, weights, bytes) of a block

_INTEGERS = frozenset({"I8", "I16", "I32", "I64"})
_NO_PRODUCT = frozenset({"F64", "Q8_1", "Q8_K"})


@dataclass(frozen=True, slots=True)
class GgmlType:
    """How the weights of a tensor are stored.

    Attributes:
        type_id: number in the file (`enum ggml_type`).
        name: as llama.cpp's documentation writes it, such as "Q4_K".
        block_size: weights per block; a row holds whole blocks.
        block_bytes: bytes per block.
    """

    type_id: int
    name: str
    block_size: int
    block_bytes: int

    @property
    def is_integer(self) -> bool:
        """Whether it holds whole numbers (tables of ids), which no matrix product takes."""
        return self.name in _INTEGERS

    @property
    def multiplies(self) -> bool:
        """Whether ggml's CPU kernels can multiply by weights of this type; the others crash it with a null call."""
        return not self.is_integer and self.name not in _NO_PRODUCT

    @property
    def bits_per_weight(self) -> float:
        """Average size of a weight in bits, scales included."""
        return self.block_bytes * 8 / self.block_size

    def row_bytes(self, n: int) -> int:
        """Bytes of a row of `n` weights; `n` is a multiple of `block_size`."""
        return n // self.block_size * self.block_bytes


def _table() -> dict[int, GgmlType]:
    known = {int(t): GgmlType(int(t), t.name, *GGML_QUANT_SIZES[t]) for t in GGMLQuantizationType}
    return known | {i: GgmlType(i, *row) for i, row in _OWN_ROWS.items()}


GGML_TYPES: dict[int, GgmlType] = _table()
"""Every tensor type by its number."""


class ValueType(IntEnum):
    """Types of metadata values (`enum gguf_type`)."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12


SCALAR_FORMATS: dict[ValueType, str] = {
    ValueType.UINT8: "B",
    ValueType.INT8: "b",
    ValueType.UINT16: "H",
    ValueType.INT16: "h",
    ValueType.UINT32: "I",
    ValueType.INT32: "i",
    ValueType.FLOAT32: "f",
    ValueType.BOOL: "?",
    ValueType.UINT64: "Q",
    ValueType.INT64: "q",
    ValueType.FLOAT64: "d",
}
"""`struct` codes of the fixed-size values, little-endian, sizes in `struct`'s standard mode."""
