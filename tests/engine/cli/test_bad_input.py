"""A wrong or damaged model file: one clear line, exit code 2, no traceback, no crash, nothing written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import gguf
import pytest

from tests.engine.cli.conftest import Gannet
from tests.models import Recipe, build

Damage = Callable[[Path], Path]


def truncated(folder: Path) -> Path:
    path = build(folder, Recipe())
    os.truncate(path, path.stat().st_size // 2)
    return path


def header_cut(folder: Path) -> Path:
    path = build(folder, Recipe())
    os.truncate(path, 1000)
    return path


def empty(folder: Path) -> Path:
    path = folder / "empty.gguf"
    path.touch()
    return path


def missing(folder: Path) -> Path:
    return folder / "missing.gguf"


def folder_without_models(folder: Path) -> Path:
    return folder


def wrong_magic(folder: Path) -> Path:
    path = folder / "text.gguf"
    path.write_text("once upon a time " * 100)
    return path


def wrong_version(folder: Path) -> Path:
    return patched(folder, 4, (99).to_bytes(4, "little"))


def absurd_counts(folder: Path) -> Path:
    return patched(folder, 8, (1 << 60).to_bytes(8, "little"))


def missing_part(folder: Path) -> Path:
    path = build(folder, Recipe(parts=3))
    (folder / path.name.replace("00001-of", "00002-of")).unlink()
    return path


def f64_router(folder: Path) -> Path:
    return written(folder, "blk.0.ffn_gate_inp.weight", gguf.GGMLQuantizationType.F64, 8)


def unknown_architecture(folder: Path) -> Path:
    return written(folder, "blk.0.attn_norm.weight", gguf.GGMLQuantizationType.F32, 4, architecture="phlogiston")


def no_such_type(folder: Path) -> Path:
    path = build(folder, Recipe())
    data = path.read_bytes()
    name = b"blk.0.ffn_up_exps.weight"
    at = data.index(name) + len(name) + 4 + 3 * 8
    return patched(folder, at, (250).to_bytes(4, "little"))


def no_permission(folder: Path) -> Path:
    path = build(folder, Recipe())
    path.chmod(0)
    return path


def patched(folder: Path, at: int, value: bytes) -> Path:
    path = build(folder, Recipe())
    with path.open("r+b") as file:
        file.seek(at)
        file.write(value)
    return path


def written(
    folder: Path, tensor: str, kind: gguf.GGMLQuantizationType, size: int, architecture: str = "qwen3moe"
) -> Path:
    """A file whose header says that `tensor` is of type `kind` (`size` bytes a weight)."""
    import numpy as np

    path = folder / "made.gguf"
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(1)
    writer.add_tensor(tensor, np.zeros((16, 256 * size), np.uint8), raw_shape=(16, 256 * size), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (truncated, "missing"),
        (header_cut, "qwen3moe-Q4_K-1-1.gguf"),
        (empty, "empty"),
        (missing, "no such file"),
        (folder_without_models, "no .gguf file"),
        (wrong_magic, "not a GGUF"),
        (wrong_version, "version 99"),
        (absurd_counts, "1,152,921,504,606,846,976 tensors"),
        (missing_part, "3 parts"),
        (f64_router, "ffn_gate_inp"),
        (unknown_architecture, "phlogiston"),
        (no_such_type, "ffn_up_exps"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_bad_file_is_one_line_that_names_it_and_what_is_wrong(
    tmp_path: Path, gannet: Gannet, damage: Damage, says: str
) -> None:
    path = damage(tmp_path)
    before = sorted(tmp_path.iterdir())
    check(gannet("generate", path, "--prompt", "Hi"), path.name, says)
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_without_permission_is_one_line(tmp_path: Path, gannet: Gannet) -> None:
    path = no_permission(tmp_path)
    if os.access(path, os.R_OK):  # root may read everything; a folder in the way gives the same kind of error
        path = path / "inside.gguf"
    check(gannet("generate", path, "--prompt", "Hi"), path.name, "")


def test_chat_refuses_a_bad_file_the_same_way(tmp_path: Path, gannet: Gannet) -> None:
    check(gannet("chat", empty(tmp_path), stdin="Hi\n"), "empty.gguf", "empty")


def check(process: subprocess.CompletedProcess[str], name: str, says: str) -> None:
    assert process.returncode == 2, process.stderr
    assert process.stdout == ""
    lines = process.stderr.splitlines()
    assert len(lines) == 1, process.stderr
    assert lines[0].startswith("gannet: ")
    assert name in lines[0]
    assert says in lines[0]
