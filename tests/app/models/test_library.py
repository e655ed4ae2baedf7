"""The library scan: a model that is on the disk must be found, once, whatever its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.models.library import scan


def put(path: Path, size: int = 10) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"g" * size)
    return path


def test_models_at_any_depth_are_found_and_splits_shown_once(tmp_path: Path) -> None:
    put(tmp_path / "a.gguf")
    put(tmp_path / "x/y/z/deep/B-Q4_K_M.GGUF")
    for part in (1, 2, 3):
        put(tmp_path / f"big/model-Q2_K-0000{part}-of-00003.gguf", part)
    put(tmp_path / "big/mmproj-model.gguf")
    put(tmp_path / "big/half.gguf.12345678.part")
    put(tmp_path / ".cache/hidden.gguf")
    found = scan(tmp_path)
    assert [(model.name, model.size, model.complete) for model in found.models] == [
        ("a", 10, True),
        ("B-Q4_K_M", 10, True),
        ("model-Q2_K", 6, True),
    ]
    assert found.models[2].path.name == "model-Q2_K-00001-of-00003.gguf"
    assert found.unreadable == []


def test_a_split_with_missing_parts_is_shown_as_incomplete(tmp_path: Path) -> None:
    put(tmp_path / "m-00002-of-00003.gguf")
    (model,) = scan(tmp_path).models
    assert (model.parts_present, model.parts_expected, model.complete) == (1, 3, False)


def test_equal_names_in_two_folders_are_two_models(tmp_path: Path) -> None:
    put(tmp_path / "one/m-00001-of-00001.gguf")
    put(tmp_path / "two/m-00001-of-00001.gguf")
    assert len(scan(tmp_path).models) == 2


def test_links_to_files_count_and_links_to_folders_do_not_loop(tmp_path: Path) -> None:
    """Hub caches keep a model as a link to a blob."""
    blob = put(tmp_path / "blobs/abc")
    folder = tmp_path / "snapshots"
    folder.mkdir()
    try:
        (folder / "m.gguf").symlink_to(blob)
        (folder / "again").symlink_to(tmp_path, target_is_directory=True)
    except OSError:  # Windows without the right to make links has no such caches either
        put(folder / "m.gguf")
    (folder / "broken.gguf").touch()
    (folder / "broken.gguf").unlink()
    assert [model.name for model in scan(tmp_path).models] == ["m"]


def test_a_missing_folder_is_reported_not_raised(tmp_path: Path) -> None:
    found = scan(tmp_path / "unplugged")
    assert found.models == [] and found.unreadable == [tmp_path / "unplugged"]


@pytest.mark.parametrize(
    ("name", "quantization"),
    [
        ("Qwen3-30B-A3B-Q4_K_M", "Q4_K_M"),
        ("DeepSeek-V3-UD-Q2_K_XL", "UD-Q2_K_XL"),
        ("gpt-oss-20b-mxfp4", "MXFP4"),
        ("Mixtral.IQ3_XXS", "IQ3_XXS"),
        ("model-BF16", "BF16"),
        ("model", ""),
    ],
)
def test_the_quantization_is_read_from_the_name(tmp_path: Path, name: str, quantization: str) -> None:
    put(tmp_path / f"{name}.gguf")
    assert scan(tmp_path).models[0].quantization == quantization
