"""Backends that are libraries of their own are loaded from the package's folder; a linked one is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import backends
from engine.errors import GannetError


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    folders: list[Path] = []
    monkeypatch.setattr(backends, "_load_from", folders.append)
    return folders


def test_a_cpu_backend_that_is_there_is_not_loaded_again(searched: list[Path]) -> None:
    backends.load_cpu()
    assert searched == []


def test_the_cpu_libraries_lie_beside_llama_cpp(searched: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([False, True])
    monkeypatch.setattr(backends, "_has_cpu", lambda: next(answers))
    backends.load_cpu()
    assert searched == [backends.LIBRARIES]
    assert any(backends.LIBRARIES.glob("*llama*"))


def test_a_processor_that_none_fits_is_an_error_that_names_the_folder(
    searched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "_has_cpu", lambda: False)
    with pytest.raises(GannetError, match=r"no CPU library in .*lib runs on this processor"):
        backends.load_cpu()


def test_gpu_backends_are_loaded_from_their_own_folder_where_there_is_one(
    searched: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "GPU_LIBRARIES", tmp_path / "gpu")
    backends.load_gpu()
    assert searched == []
    (tmp_path / "gpu").mkdir()
    backends.load_gpu()
    assert searched == [tmp_path / "gpu"]
