"""Loading: progress that can be shown, a way out, and reasons in one line."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

import gguf
import llama_cpp
import pytest

from engine import stock
from engine.errors import GannetError, LoadCancelledError, ModelFileError
from engine.gguf import open_model
from engine.loader import load
from engine.settings import EngineSettings
from tests.models import Recipe

PLAIN = EngineSettings(plain=True, context_length=256, ubatch=64, threads=1)
Build = Callable[[Recipe], Path]


def test_a_load_can_be_watched_to_its_end(tiny_model: Build) -> None:
    seen: list[float] = []
    with load(open_model(tiny_model(Recipe())), PLAIN, progress=lambda share, what: seen.append(share)) as loaded:
        assert loaded.load_seconds > 0
        assert not loaded.streaming
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_load_can_be_given_up(tiny_model: Build) -> None:
    with pytest.raises(LoadCancelledError):
        load(open_model(tiny_model(Recipe())), PLAIN, cancelled=lambda: True)


def test_the_models_own_context_length_is_not_exceeded(tiny_model: Build) -> None:
    with load(open_model(tiny_model(Recipe())), PLAIN.model_copy(update={"context_length": 1 << 20})) as loaded:
        assert loaded.settings.context_length == 512
        assert loaded.llama.n_ctx() == 512


def test_amx_buffers_stay_off_since_they_crash(tiny_model: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    stock_load = stock.bindings.llama_model_load_from_file

    def spy(path: bytes, params: llama_cpp.llama_model_params) -> object:
        seen.append(params.use_extra_bufts)
        return stock_load(path, params)

    monkeypatch.setattr(stock.bindings, "llama_model_load_from_file", spy)
    load(open_model(tiny_model(Recipe())), PLAIN).close()
    assert seen == [False]
    assert stock.bindings.llama_model_load_from_file is spy


def test_an_architecture_llama_cpp_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_small(tmp_path / "odd.gguf", "no-such-architecture")
    with pytest.raises(ModelFileError) as refused:
        load(open_model(path), PLAIN)
    assert "odd.gguf" in str(refused.value)
    assert "no-such-architecture" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_output_of_other_threads_is_not_lost_during_a_load(
    tiny_model: Build, capfd: pytest.CaptureFixture[str]
) -> None:
    def shout(share: float, what: str) -> None:
        os.write(1, b"heard\n")

    load(open_model(tiny_model(Recipe())), PLAIN, progress=shout).close()
    assert "heard" in capfd.readouterr().out


def test_llama_cpp_says_nothing_on_the_terminal_but_its_log_can_be_read(
    tiny_model: Build, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "engine.llama"):
        load(open_model(tiny_model(Recipe())), PLAIN).close()
    assert capfd.readouterr() == ("", "")
    assert any("llama_model_loader" in record.message for record in caplog.records)


def test_loads_of_two_threads_do_not_mix_their_parameters(tiny_model: Build) -> None:
    files = open_model(tiny_model(Recipe()))
    results: list[str] = []

    def one(cancel: bool) -> None:
        try:
            load(files, PLAIN, cancelled=lambda: cancel).close()
            results.append("loaded")
        except LoadCancelledError:
            results.append("cancelled")

    threads = [threading.Thread(target=one, args=(cancel,)) for cancel in (True, False) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["cancelled"] * 4 + ["loaded"] * 4


def test_a_context_too_large_for_memory_is_an_error_with_a_cure(
    tiny_model: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_cpp.llama_cpp, "llama_init_from_model", lambda model, params: None)
    with pytest.raises(GannetError) as refused:
        load(open_model(tiny_model(Recipe())), PLAIN)
    assert "--context" in str(refused.value)


def write_small(path: Path, architecture: str) -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path
