"""One file's header: metadata and tensor table, parsed strictly and within the file's bounds.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little-endian).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import one_line
from engine.gguf.foreign import describe_foreign
from engine.gguf.layout import place_tensors
from engine.gguf.source import HeaderSource
from engine.gguf.tensors import MIN_ROW_BYTES, TensorInfo, read_tensor
from engine.gguf.types import ValueType
from engine.gguf.values import read_value

MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32
MAX_ALIGNMENT = 1 << 20
MAX_KEY_BYTES = 65535
MIN_VALUE_BYTES = 8 + 1 + 4 + 1  # of a metadata entry: key, type, the shortest value
_VERSION = struct.Struct("<I")
_COUNTS = struct.Struct("<qq")
_TYPE = struct.Struct("<I")


@dataclass(frozen=True)
class Header:
    """What one file says of itself.

    Attributes:
        path: the file.
        size: its length in bytes.
        metadata: values by key; long arrays are `StoredArray`s that read themselves when looked into.
        value_types: type of each value (of its elements for an array), since llama.cpp insists on some.
        tensors: in the file's order, offsets from the start of the file.
    """

    path: Path
    size: int
    metadata: Mapping[str, Any]
    value_types: Mapping[str, ValueType]
    tensors: tuple[TensorInfo, ...]


def read_header(path: Path, file: int = 0) -> Header:
    """Read and check the header of one file; `file` is its index in the model. Raises ModelFileError."""
    with HeaderSource(path) as source:
        _check_magic(source)
        n_tensors, n_values = _counts(source)
        metadata, value_types = _metadata(source, n_values)
        alignment = _alignment(source, metadata, value_types)
        tensors = [read_tensor(source, number, file) for number in range(n_tensors)]
        placed = place_tensors(source, tensors, alignment)
        return Header(path, source.size, metadata, value_types, placed)


def _check_magic(source: HeaderSource) -> None:
    if source.size == 0:
        raise source.error("the file is empty; download it again")
    start = source.read(min(source.size, 512), "the start")
    if not start.startswith(MAGIC):
        raise source.error(f"this is not a GGUF model: it {describe_foreign(start)}")
    source.seek(len(MAGIC))
    (version,) = source.unpack(_VERSION, "the version")
    if version in VERSIONS:
        return
    if int.from_bytes(version.to_bytes(4, "little"), "big") in (1, *VERSIONS):
        raise source.error("this is a big-endian GGUF file; take the little-endian one or use gguf-convert-endian")
    cure = "take a newer conversion of the model" if version < min(VERSIONS) else "update Gannet or take another file"
    raise source.error(f"GGUF version {version} is not supported (only 2 and 3); {cure}")


def _counts(source: HeaderSource) -> tuple[int, int]:
    n_tensors, n_values = source.unpack(_COUNTS, "the number of tensors and metadata entries")
    for count, each, what in ((n_tensors, MIN_ROW_BYTES, "tensors"), (n_values, MIN_VALUE_BYTES, "metadata entries")):
        if not 0 <= count <= source.remaining // each:
            raise source.error(f"claims {count:,} {what}, more than fit into it; the file is damaged or incomplete")
    return n_tensors, n_values


def _metadata(source: HeaderSource, count: int) -> tuple[dict[str, Any], dict[str, ValueType]]:
    metadata: dict[str, Any] = {}
    value_types: dict[str, ValueType] = {}
    for number in range(count):
        key = _key(source, number)
        if key in metadata:
            raise source.error(f"metadata {one_line(key)} is there twice; the file is damaged, download it again")
        (type_id,) = source.unpack(_TYPE, f"metadata {one_line(key)}")
        value_types[key], metadata[key] = read_value(source, key, type_id)
    return metadata, value_types


def _key(source: HeaderSource, number: int) -> str:
    raw = source.text(MAX_KEY_BYTES, f"the name of metadata entry {number}")
    if not raw:
        raise source.error(f"metadata entry {number} has no name; the file is damaged, download it again")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise source.error(f"the name of metadata entry {number} is not text; the file is damaged") from None


def _alignment(source: HeaderSource, metadata: Mapping[str, Any], value_types: Mapping[str, ValueType]) -> int:
    key = "general.alignment"
    if key not in metadata:
        return DEFAULT_ALIGNMENT
    value = metadata[key]
    if value_types[key] is not ValueType.UINT32 or not isinstance(value, int):
        raise source.error(f"metadata {key} is not a 32-bit number; the file is damaged, download it again")
    if not 0 < value <= MAX_ALIGNMENT or value & (value - 1):
        raise source.error(f"metadata {key} is {value}, not a power of two up to {MAX_ALIGNMENT:,}; damaged file")
    return value
