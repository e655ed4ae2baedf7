"""What people name as a model: files, folders, links, and paths that are none of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ModelFileError
from engine.gguf import models_in, open_model
from engine.gguf.types import ValueType
from tests.engine.gguf.header_bytes import GgufBytes


def problem(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        open_model(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ["plain.gguf", "with spaces and ümläuts 模型.gguf", "UPPER.GGUF", "no extension"])
def test_any_name_opens(tmp_path: Path, name: str) -> None:
    files = open_model(str(GgufBytes().write(tmp_path / name)))
    assert files.paths == (tmp_path / name,)


def test_a_relative_path_and_home_open(tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    GgufBytes().write(own_folders / "model.gguf")
    assert open_model("~/model.gguf").path == own_folders / "model.gguf"
    monkeypatch.chdir(own_folders)
    assert open_model("model.gguf").path.is_absolute()


def test_a_link_opens(tmp_path: Path) -> None:
    link = tmp_path / "link.gguf"
    link.symlink_to(GgufBytes().write(tmp_path / "blob"))
    assert open_model(link).path == link


def test_a_folder_with_one_model_opens_it(tmp_path: Path) -> None:
    path = GgufBytes().write(tmp_path / "model.gguf")
    (tmp_path / "README.md").write_text("# model")
    GgufBytes().with_value("general.type", ValueType.STRING, "mmproj").write(tmp_path / "mmproj-F16.gguf")
    assert open_model(tmp_path).path == path


def test_a_folder_with_a_choice_lists_it(tmp_path: Path) -> None:
    for name in ("a.gguf", "b-00001-of-00002.gguf", "b-00002-of-00002.gguf"):
        GgufBytes().write(tmp_path / name)
    message = problem(tmp_path)
    assert "2 models (a.gguf, b-00001-of-00002.gguf)" in message


def test_a_folder_without_models_says_so(tmp_path: Path) -> None:
    assert "no .gguf file" in problem(tmp_path)


def test_the_models_of_a_folder_are_listed_once_each(tmp_path: Path) -> None:
    for name in ("b-00001-of-00002.gguf", "b-00002-of-00002.gguf", "a.gguf", "c.txt"):
        GgufBytes().write(tmp_path / name)
    (tmp_path / "folder.gguf").mkdir()
    assert [path.name for path in models_in(tmp_path)] == ["a.gguf", "b-00001-of-00002.gguf"]


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    assert "no such file" in problem(tmp_path / "missing.gguf")
    model = GgufBytes().write(tmp_path / "model.gguf")
    assert "no such file" in problem(model / "below")
    (tmp_path / "dangling.gguf").symlink_to(tmp_path / "gone")
    assert "no such file" in problem(tmp_path / "dangling.gguf")


def test_odd_paths_are_one_line_too(tmp_path: Path) -> None:
    assert "\\n" in problem(tmp_path / "line\nbreak.gguf")
    assert problem(Path("nul\0byte"))
    assert problem(tmp_path / ("x" * 300))
    loop = tmp_path / "loop.gguf"
    loop.symlink_to(loop)
    assert problem(loop)


def test_a_name_that_is_not_text_is_printable(tmp_path: Path) -> None:
    """Such a name comes from the shell as lone surrogates, which no terminal prints: a traceback instead of a line."""
    assert problem(tmp_path / "\udcff.gguf").encode()
