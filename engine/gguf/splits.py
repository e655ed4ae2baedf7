"""Models split into several files, named as llama.cpp names them: `NAME-00002-of-00003.gguf`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from engine.errors import ModelFileError, one_line
from engine.gguf.header import Header, read_header
from engine.gguf.types import ValueType

SPLIT_NAME = re.compile(r"(?P<prefix>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)
_SLICE = re.compile(r"\.gguf([.-]?part-?\d+of\d+|[.-]split-?[a-z0-9]+)$", re.IGNORECASE)


def refuse_slice(path: Path) -> None:
    """Raise for a piece of a file that was cut at any byte (`.part1of2`): it can only be joined again."""
    if _SLICE.search(path.name):
        raise ModelFileError(f"{path}: this is a slice of a file; join all slices in order into one .gguf file first")


def read_parts(header: Header) -> list[Header]:
    """The headers of all parts of the model that `header` belongs to, the first part first.

    Raises ModelFileError for a part that is missing, misnamed, from another split or damaged.
    """
    count = _split_number(header, "split.count", default=0)
    if count <= 1:
        return [header]
    paths = part_paths(header.path, count)
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        raise ModelFileError(
            f"{header.path}: this model has {count} parts and {_some(missing)} missing in its folder; download the rest"
        )
    parts = [read_header(path, file=number) for number, path in enumerate(paths)]
    for number, part in enumerate(parts):
        _check_part(part, number, count)
    _check_tensors(parts)
    return parts


def part_paths(path: Path, count: int) -> list[Path]:
    """The paths of all `count` parts of the split that `path` is one of."""
    match = SPLIT_NAME.fullmatch(path.name)
    if match is None or int(match["count"]) != count:
        raise ModelFileError(
            f"{path}: this is one of {count} parts of a model, but its name does not end in "
            f"-00001-of-{count:05d}.gguf or the like; give the parts their names back"
        )
    return [path.with_name(f"{match['prefix']}-{number:05d}-of-{count:05d}.gguf") for number in range(1, count + 1)]


def _check_part(part: Header, number: int, count: int) -> None:
    says, of = _split_number(part, "split.no"), _split_number(part, "split.count")
    if (says, of) != (number, count):
        raise ModelFileError(
            f"{part.path}: says inside that it is part {says + 1} of {of}, but its name says {number + 1} of {count}; "
            "download this part again"
        )


def _check_tensors(parts: Sequence[Header]) -> None:
    where: dict[str, Header] = {}
    for part in parts:
        for tensor in part.tensors:
            other = where.setdefault(tensor.name, part)
            if other is not part:
                raise ModelFileError(
                    f"{part.path}: tensor {one_line(tensor.name)} is in {other.path.name} as well; "
                    "the parts do not belong together, download them again"
                )
    expected = _split_number(parts[0], "split.tensors.count", (ValueType.INT32,))
    if expected != len(where):
        raise ModelFileError(
            f"{parts[0].path}: the model has {expected} tensors and its {len(parts)} parts have {len(where)}; "
            "the parts do not belong together, download them again"
        )


def _split_number(
    header: Header, key: str, types: tuple[ValueType, ...] = (ValueType.UINT16,), default: int | None = None
) -> int:
    value = header.metadata.get(key, default)
    # llama.cpp takes no other type here; it ends the whole program when the type of split.no is another.
    if not isinstance(value, int) or header.value_types.get(key, types[0]) not in types:
        raise ModelFileError(f"{header.path}: metadata {key} is missing or not a number; download this part again")
    return value


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    if len(names) > 3:
        return f"{shown} and {len(names) - 3} more are"
    return f"{shown} {'is' if len(names) == 1 else 'are'}"
