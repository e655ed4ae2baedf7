"""Settings that change while a model is loaded: the answers stay the same, and what is not live is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import llama_cpp
import pytest

from engine.answer import AnswerOptions, Finished, answer
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.lookahead.trial import SETTLING
from engine.settings import EngineSettings
from tests.models import Recipe

Build = Callable[[Recipe], Path]
STREAMED = EngineSettings(cache_bytes=1 << 16, context_length=256, ubatch=64, threads=1)


def tokens(loaded: LoadedModel, most: int = 12) -> tuple[int, ...]:
    options = AnswerOptions(max_tokens=most, temperature=0, ignore_end=True)
    *_, last = answer(loaded, list(range(3, 23)), options)
    assert isinstance(last, Finished)
    return last.result.tokens


def test_trying_whether_lookahead_pays_never_changes_an_answer(tiny_model: Build) -> None:
    with load(open_model(tiny_model(Recipe())), STREAMED.model_copy(update={"lookahead_trial": False})) as loaded:
        expected = tokens(loaded, SETTLING + 40)
        assert loaded.telemetry().lookahead_gain == 0
        loaded.apply(loaded.settings.model_copy(update={"lookahead_trial": True}))
        assert tokens(loaded, SETTLING + 40) == expected
        assert loaded.telemetry().lookahead_gain > 0


def test_live_settings_never_change_an_answer(tiny_model: Build) -> None:
    with load(open_model(tiny_model(Recipe())), STREAMED) as loaded:
        assert loaded.streaming
        expected = tokens(loaded)
        for change in (
            {"io_threads": 1},
            {"io_threads": 12, "lookahead": 0},
            {"lookahead": 3},
            {"lookahead_width": 9, "prefetch_bar": 0.1, "prefetch_depth": 6},
            {"cache_bytes": 1 << 20},
            {"cache_bytes": 0, "lookahead": 1, "io_threads": 2},
        ):
            assert loaded.apply(loaded.settings.model_copy(update=change)) == frozenset()
            assert {name: getattr(loaded.settings, name) for name in change} == change
            assert tokens(loaded) == expected


def test_the_number_of_computing_threads_changes_without_a_new_load(tiny_model: Build) -> None:
    with load(open_model(tiny_model(Recipe())), STREAMED) as loaded:
        loaded.apply(loaded.settings.model_copy(update={"threads": 2}))
        assert llama_cpp.llama_n_threads(loaded.llama.ctx) == 2


def test_a_setting_that_needs_a_new_load_is_named_and_left_alone(tiny_model: Build) -> None:
    with load(open_model(tiny_model(Recipe())), STREAMED) as loaded:
        wanted = loaded.settings.model_copy(update={"ubatch": 32, "io_threads": 3})
        assert loaded.apply(wanted) == {"ubatch"}
        assert (loaded.settings.ubatch, loaded.settings.io_threads) == (64, 3)


def test_an_automatic_cache_takes_what_is_free_at_once(tiny_model: Build) -> None:
    files = open_model(tiny_model(Recipe()))
    experts = sum(expert.tensor.nbytes for expert in files.experts())
    with load(files, STREAMED) as loaded:
        loaded.apply(loaded.settings.model_copy(update={"cache_bytes": None}))
        assert loaded.telemetry().cache_most_bytes == experts
        assert loaded.telemetry().cache_reason == "asked for"
        slot = loaded.streamer.native.cache_bytes // 16 if loaded.streamer else 0
        assert loaded.telemetry().cache_bytes >= experts - slot
        loaded.apply(loaded.settings.model_copy(update={"headroom_bytes": 1 << 60}))
        assert loaded.telemetry().cache_bytes < experts // 2


def test_an_elastic_cache_is_switched_off_and_on_while_the_model_is_loaded(tiny_model: Build) -> None:
    with load(open_model(tiny_model(Recipe())), STREAMED) as loaded:
        assert loaded.monitor is not None
        assert loaded.monitor.running
        expected = tokens(loaded)
        for elastic in (False, True, False):
            assert loaded.apply(loaded.settings.model_copy(update={"elastic": elastic})) == frozenset()
            assert loaded.monitor.running == elastic
            assert tokens(loaded) == expected
        given = loaded.telemetry().cache_bytes
        assert loaded.resize_cache(1 << 20) > given
        loaded.apply(loaded.settings.model_copy(update={"elastic": True}))
        assert loaded.telemetry().cache_bytes == given


def test_an_automatic_cache_that_is_not_elastic_returns_to_the_size_it_was_loaded_with(tiny_model: Build) -> None:
    with load(open_model(tiny_model(Recipe())), STREAMED.model_copy(update={"elastic": False})) as loaded:
        before = loaded.telemetry().cache_bytes
        loaded.apply(loaded.settings.model_copy(update={"cache_bytes": 1 << 20}))
        assert loaded.telemetry().cache_bytes > before
        loaded.apply(loaded.settings.model_copy(update={"cache_bytes": None}))
        assert loaded.telemetry().cache_bytes == before


def test_an_answer_after_the_plug_was_pulled_takes_fewer_threads(
    tiny_model: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.processors.available_cores", lambda: 8)
    monkeypatch.setattr("engine.processors.on_battery", lambda: False)
    with load(open_model(tiny_model(Recipe())), STREAMED.model_copy(update={"threads": None})) as loaded:
        assert llama_cpp.llama_n_threads(loaded.llama.ctx) == 8
        expected = tokens(loaded)
        monkeypatch.setattr("engine.processors.on_battery", lambda: True)
        assert tokens(loaded) == expected
        assert llama_cpp.llama_n_threads(loaded.llama.ctx) == 4
        loaded.apply(loaded.settings.model_copy(update={"save_battery": False}))
        assert llama_cpp.llama_n_threads(loaded.llama.ctx) == 8
