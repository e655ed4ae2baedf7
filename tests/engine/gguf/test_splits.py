"""Split models: any part or the folder opens the whole; a part that is missing or wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ModelFileError
from engine.gguf import open_model
from engine.gguf.types import ValueType
from tests.engine.gguf.header_bytes import DENSE, GgufBytes, Tensor, expert_tensors

SPLIT_KEYS = ("split.no", "split.count", "split.tensors.count")


def part(number: int, tensors: list[Tensor], count: int = 3, total: int = 5) -> GgufBytes:
    """One part of a model; the first has the metadata."""
    builder = GgufBytes(tensors=tensors) if number == 0 else GgufBytes(tensors=tensors, values={})
    builder.with_value("split.no", ValueType.UINT16, number).with_value("split.count", ValueType.UINT16, count)
    return builder.with_value("split.tensors.count", ValueType.INT32, total)


def parts() -> list[GgufBytes]:
    """A model of three parts."""
    gate, up, down = expert_tensors()
    return [part(0, [*DENSE]), part(1, [gate, up]), part(2, [down])]


def write(folder: Path, builders: list[GgufBytes], prefix: str = "big model") -> list[Path]:
    """Write the parts under their names."""
    count = len(builders)
    names = [f"{prefix}-{number:05d}-of-{count:05d}.gguf" for number in range(1, count + 1)]
    return [builder.write(folder / name) for builder, name in zip(builders, names, strict=True)]


def problem(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        open_model(path)
    return str(caught.value)


@pytest.mark.parametrize("which", [0, 1, 2, None])
def test_any_part_or_the_folder_opens_the_whole_model(tmp_path: Path, which: int | None) -> None:
    paths = write(tmp_path, parts())
    files = open_model(tmp_path if which is None else paths[which])
    assert list(files.paths) == paths
    assert files.total_bytes == sum(path.stat().st_size for path in paths)
    assert files.architecture == "qwen3moe"
    assert [tensor.file for tensor in files.tensors] == [0, 0, 1, 1, 2]
    assert [(expert.projection, expert.tensor.file) for expert in files.experts()] == [
        ("gate", 1),
        ("up", 1),
        ("down", 2),
    ]


def test_parts_linked_from_elsewhere_are_found_by_the_links_names(tmp_path: Path) -> None:
    """Download caches keep files under their hash and link to them by name."""
    store, view = tmp_path / "blobs", tmp_path / "snapshot"
    store.mkdir()
    view.mkdir()
    for number, path in enumerate(write(view, parts())):
        path.rename(store / f"hash{number}")
        path.symlink_to(store / f"hash{number}")
    files = open_model(next(view.glob("*-00002-*")))
    assert [path.parent for path in files.paths] == [view] * 3


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    paths = write(tmp_path, parts())
    paths[1].unlink()
    message = problem(paths[0])
    assert "big model-00002-of-00003.gguf is missing" in message


def test_many_missing_parts_are_counted(tmp_path: Path) -> None:
    paths = write(tmp_path, [part(n, [], count=9) if n else part(0, [*DENSE], count=9) for n in range(9)])
    for path in paths[1:]:
        path.unlink()
    assert "and 5 more are missing" in problem(paths[0])


def test_a_part_under_another_parts_name_is_named(tmp_path: Path) -> None:
    paths = write(tmp_path, parts())
    paths[2].write_bytes(paths[1].read_bytes())
    message = problem(paths[0])
    assert message.startswith(str(paths[2]))
    assert "part 2 of 3" in message


def test_a_renamed_part_gets_its_cure(tmp_path: Path) -> None:
    paths = write(tmp_path, parts())
    renamed = paths[0].rename(tmp_path / "model.gguf")
    assert "-00001-of-00003.gguf" in problem(renamed)


def test_a_tensor_in_two_parts_is_named_with_both(tmp_path: Path) -> None:
    gate, up, down = expert_tensors()
    paths = write(tmp_path, [part(0, [*DENSE]), part(1, [gate, up]), part(2, [up, down])])
    message = problem(paths[0])
    assert up.name in message
    assert paths[1].name in message
    assert paths[2].name in message


def test_parts_of_different_models_do_not_pass_as_one(tmp_path: Path) -> None:
    gate, up, _ = expert_tensors()
    paths = write(tmp_path, [part(0, [*DENSE]), part(1, [gate, up]), part(2, [])])
    assert "5 tensors and its 3 parts have 4" in problem(paths[0])


@pytest.mark.parametrize("key", SPLIT_KEYS)
def test_split_numbers_of_another_type_never_reach_llama_cpp(tmp_path: Path, key: str) -> None:
    """llama.cpp ends the whole program on a split.no that is not a 16-bit number."""
    builders = parts()
    for builder in builders:
        builder.with_value(key, ValueType.UINT64, builder.values[key][1])
    assert key in problem(write(tmp_path, builders)[0])


def test_a_truncated_second_part_is_named(tmp_path: Path) -> None:
    builders = parts()
    builders[1].missing_bytes = 1000
    paths = write(tmp_path, builders)
    message = problem(paths[0])
    assert message.startswith(str(paths[1]))
    assert "incomplete" in message


@pytest.mark.parametrize("name", ["m.gguf.part1of3", "m.gguf-split-a", "m.gguf.part-2of3"])
def test_slices_of_a_file_are_to_be_joined(tmp_path: Path, name: str) -> None:
    assert "join" in problem(GgufBytes().write(tmp_path / name))
