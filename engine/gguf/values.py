"""Metadata values. Short ones are read at once, long arrays (vocabularies) only when somebody looks into them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, overload

from engine.errors import one_line
from engine.gguf.source import HeaderSource
from engine.gguf.types import SCALAR_FORMATS, ValueType

MAX_STRING_BYTES = 1 << 24  # the longest real ones are chat templates, under a megabyte
MAX_ELEMENTS = 1 << 30  # llama.cpp's own limit
EAGER_ELEMENTS = 1024
_SCALARS = {kind: struct.Struct("<" + code) for kind, code in SCALAR_FORMATS.items()}
_ARRAY = struct.Struct("<IQ")


class StoredArray(Sequence[Any]):
    """An array of metadata that stays in the file until an element is asked for.

    Attributes:
        path: the file; offset: of the first element in it.
        value_type: of the elements.
    """

    def __init__(self, path: Path, offset: int, value_type: ValueType, length: int) -> None:
        self.path = path
        self.offset = offset
        self.value_type = value_type
        self._length = length
        self._values: list[Any] | None = None

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._kept()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._kept())

    def __repr__(self) -> str:
        return f"StoredArray({self.value_type.name}, {self._length})"

    def read(self) -> list[Any]:
        """All elements, read anew and not kept."""
        with HeaderSource(self.path) as source:
            source.seek(self.offset)
            return read_elements(source, "a metadata array", self.value_type, self._length)

    def _kept(self) -> list[Any]:
        if self._values is None:
            self._values = self.read()
        return self._values


def read_value(source: HeaderSource, key: str, type_id: int) -> tuple[ValueType, Any]:
    """The value at the source's position and its type (its elements' type for an array)."""
    what = f"metadata {one_line(key)}"
    value_type = _value_type(source, what, type_id)
    if value_type is ValueType.STRING:
        return value_type, source.text(MAX_STRING_BYTES, what).decode("utf-8", "replace")
    if value_type is not ValueType.ARRAY:
        return value_type, read_elements(source, what, value_type, 1)[0]
    element_id, count = source.unpack(_ARRAY, what)
    element_type = _value_type(source, what, element_id)
    if element_type is ValueType.ARRAY:
        raise source.error(f"{what} is an array of arrays, which llama.cpp does not read; take another file")
    if count > MAX_ELEMENTS:
        raise source.error(f"{what} claims {count:,} elements; the file is damaged, download it again")
    if count <= EAGER_ELEMENTS:
        return element_type, read_elements(source, what, element_type, count)
    array = StoredArray(source.path, source.position, element_type, count)
    if element_type is ValueType.STRING:
        source.skip_texts(count, what)
    else:
        source.skip(count * _SCALARS[element_type].size, what)
    return element_type, array


def read_elements(source: HeaderSource, what: str, value_type: ValueType, count: int) -> list[Any]:
    """`count` values of one type at the source's position, `count` being already known to be at most `MAX_ELEMENTS`."""
    if value_type is ValueType.STRING:
        source.require(count * 8, what)
        # Vocabularies have tokens that are halves of characters, no UTF-8 by themselves; they stay distinct this way.
        return [raw.decode("utf-8", "surrogateescape") for raw in source.texts(count, MAX_STRING_BYTES, what)]
    code = SCALAR_FORMATS[value_type]
    raw = source.read(count * _SCALARS[value_type].size, what)
    return list(struct.unpack(f"<{count}{code}", raw))


def _value_type(source: HeaderSource, what: str, type_id: int) -> ValueType:
    try:
        return ValueType(type_id)
    except ValueError:
        raise source.error(f"{what} has type {type_id}, which GGUF does not have; the file is damaged") from None
