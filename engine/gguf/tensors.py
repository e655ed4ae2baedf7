"""A tensor's row in the header, and the checks each row must pass alone.

llama.cpp makes the same checks, but says what is wrong in its log only, and some of what it accepts crashes it later.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from engine.errors import one_line
from engine.gguf.source import HeaderSource
from engine.gguf.types import GGML_TYPES, GgmlType

MAX_DIMS = 4
MAX_NAME_BYTES = 63  # GGML_MAX_NAME less the closing zero
MIN_ROW_BYTES = 8 + 1 + 4 + 8 + 4 + 8  # of a tensor's row in the header: name, dimensions, type, offset
_INT64_MAX = (1 << 63) - 1
_COUNT = struct.Struct("<I")
_TYPE_AND_OFFSET = struct.Struct("<IQ")
_LAYOUTS = {n: struct.Struct(f"<{n}q") for n in range(1, MAX_DIMS + 1)}

# Tables of ids that are looked up and never multiplied: integers are right there and nowhere else.
_ID_TABLE = re.compile(r"(?:^|\.)(?:ffn_gate_tid2eid|d2t)(?:\.weight)?$")


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Where a tensor lies.

    Attributes:
        name: such as "blk.0.ffn_up_exps.weight".
        ggml_type: how its weights are stored.
        shape: lengths in ggml's order (`ne`): the first is the row, contiguous in memory.
        file: index into `ModelFiles.paths`.
        offset: of its first byte, from the start of that file.
        nbytes: length of its data.
    """

    name: str
    ggml_type: GgmlType
    shape: tuple[int, ...]
    file: int
    offset: int
    nbytes: int

    @property
    def n_weights(self) -> int:
        """How many weights it has."""
        total = 1
        for length in self.shape:
            total *= length
        return total


def read_tensor(source: HeaderSource, number: int, file: int) -> TensorInfo:
    """The row at the source's position; `offset` is still relative to the data section."""
    name = _name(source, number)
    shown = f"tensor {one_line(name)}"
    (n_dims,) = source.unpack(_COUNT, shown)
    if not 1 <= n_dims <= MAX_DIMS:
        raise source.error(f"{shown} has {n_dims} dimensions, 1 to {MAX_DIMS} are possible; the file is damaged")
    shape = source.unpack(_LAYOUTS[n_dims], shown)
    type_id, offset = source.unpack(_TYPE_AND_OFFSET, shown)
    ggml_type = GGML_TYPES.get(type_id)
    if ggml_type is None:
        raise source.error(f"{shown} has type {type_id}, which this version does not know; update or take another file")
    nbytes = _checked_size(source, shown, ggml_type, shape)
    _check_usable(source, name, ggml_type)
    return TensorInfo(name, ggml_type, shape, file, offset, nbytes)


def _name(source: HeaderSource, number: int) -> str:
    raw = source.text(1 << 16, f"the name of tensor {number}")
    if not raw or len(raw) > MAX_NAME_BYTES:
        raise source.error(f"the name of tensor {number} has {len(raw)} bytes, not 1 to {MAX_NAME_BYTES}; damaged file")
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise source.error(f"the name of tensor {number} is not text; the file is damaged, download it again") from None
    if "\0" in name:
        raise source.error(f"the name of tensor {number} has a zero byte; the file is damaged, download it again")
    return name


def _checked_size(source: HeaderSource, shown: str, ggml_type: GgmlType, shape: tuple[int, ...]) -> int:
    total = 1
    for length in shape:
        if length <= 0:
            raise source.error(f"{shown} has a dimension of {length}; the file is damaged, download it again")
        total *= length
    if shape[0] % ggml_type.block_size:
        raise source.error(
            f"{shown} has rows of {shape[0]} weights, not a multiple of the {ggml_type.block_size} "
            f"that {ggml_type.name} packs together; the file is damaged"
        )
    nbytes = ggml_type.row_bytes(total)
    if total > _INT64_MAX or nbytes > _INT64_MAX:
        raise source.error(f"{shown} has impossibly many weights ({total}); the file is damaged, download it again")
    return nbytes


def _check_usable(source: HeaderSource, name: str, ggml_type: GgmlType) -> None:
    if ggml_type.multiplies or (ggml_type.is_integer and _ID_TABLE.search(name)):
        return
    raise source.error(
        f"tensor {one_line(name)} is stored as {ggml_type.name}, which llama.cpp cannot multiply by; "
        "convert the model again or take another file"
    )
