"""Where the tensors' data lie: one after the other, aligned, inside the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.errors import one_line
from engine.gguf.source import HeaderSource
from engine.gguf.tensors import TensorInfo


def place_tensors(source: HeaderSource, tensors: Sequence[TensorInfo], alignment: int) -> tuple[TensorInfo, ...]:
    """The tensors with offsets from the start of the file; the source stands at the end of the table.

    llama.cpp wants each tensor to begin where the one before it ends, rounded up to the alignment: neither gaps nor
    overlaps. Raises ModelFileError where that does not hold or where data lie past the end of the file.
    """
    data_start = _round_up(source.position, alignment)
    seen: set[str] = set()
    expected = 0
    placed = []
    for tensor in tensors:
        _check_once(source, tensor, seen)
        _check_offset(source, tensor, expected, alignment)
        expected = _round_up(expected + tensor.nbytes, alignment)
        placed.append(replace(tensor, offset=data_start + tensor.offset))
    check_complete(source, placed)
    return tuple(placed)


def check_complete(source: HeaderSource, tensors: Sequence[TensorInfo]) -> None:
    """Raise where the file ends before its tensors do: what an interrupted download looks like."""
    for tensor in tensors:
        end = tensor.offset + tensor.nbytes
        if end > source.size:
            last = tensors[-1].offset + tensors[-1].nbytes
            raise source.error(
                f"the file ends before tensor {one_line(tensor.name)} does, {last - source.size:,} of "
                f"{last:,} bytes are missing; its download is incomplete, resume it or download it again"
            )


def _check_once(source: HeaderSource, tensor: TensorInfo, seen: set[str]) -> None:
    if tensor.name in seen:
        raise source.error(f"tensor {one_line(tensor.name)} is there twice; the file is damaged, download it again")
    seen.add(tensor.name)


def _check_offset(source: HeaderSource, tensor: TensorInfo, expected: int, alignment: int) -> None:
    if tensor.offset == expected:
        return
    if tensor.offset % alignment:
        what = f"begins at {tensor.offset}, which is not a multiple of {alignment}"
    elif tensor.offset < expected:
        what = f"begins at {tensor.offset:,}, inside the data of the tensor before it"
    else:
        what = f"begins at {tensor.offset:,} instead of {expected:,}"
    raise source.error(f"tensor {one_line(tensor.name)} {what}; the file is damaged, download it again")


def _round_up(value: int, alignment: int) -> int:
    return (value + alignment - 1) // alignment * alignment
