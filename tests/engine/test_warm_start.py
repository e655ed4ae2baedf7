"""What a model's last session used is in memory soon after the next start, and an answer does not change for it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from engine.answer import AnswerOptions, Finished, answer
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.settings import EngineSettings


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GANNET_HOME", str(tmp_path))


def settings(**changes: object) -> EngineSettings:
    return EngineSettings(context_length=256, threads=1, cache_bytes=8 << 20).model_copy(update=changes)


def tokens(loaded: LoadedModel) -> tuple[int, ...]:
    prompt = loaded.llama.tokenize(b"Tell me a story about a fox.", special=True)
    *_, last = answer(loaded, prompt, AnswerOptions(max_tokens=40, temperature=0.0, ignore_end=True))
    assert isinstance(last, Finished)
    return last.result.tokens


def filled(loaded: LoadedModel) -> int:
    """Resident experts once nothing more is being read, 10 s at most."""
    end = time.monotonic() + 10
    count = -1
    while time.monotonic() < end:
        now = sum(map(sum, loaded.expert_map().resident))
        telemetry = loaded.telemetry()
        if now == count and now > 0 and telemetry.queue_demand + telemetry.queue_prefetch == 0:
            return now
        count = now
        time.sleep(0.05)
    return count


def test_the_second_start_fills_the_cache_before_anything_is_asked(demo_model: Path) -> None:
    files = open_model(demo_model)
    with load(files, settings()) as first:
        said = tokens(first)
        popular = {
            (layer, expert)
            for layer, uses in enumerate(first.expert_map().uses)
            for expert, n in enumerate(uses)
            if n == max(uses)
        }
    with load(files, settings()) as second:
        assert filled(second) > 0
        resident = second.expert_map().resident
        there = [resident[layer][expert] for layer, expert in popular]
        assert sum(there) / len(there) > 0.9
        assert tokens(second) == said


def test_a_model_that_is_not_to_be_remembered_starts_empty_and_leaves_nothing(demo_model: Path, tmp_path: Path) -> None:
    files = open_model(demo_model)
    with load(files, settings(census=False)) as first:
        tokens(first)
    assert not list(tmp_path.rglob("*.json"))
    with load(files, settings(census=False)) as second:
        assert second.telemetry().bytes_read == 0


def test_a_damaged_census_is_put_aside_and_the_model_answers(demo_model: Path, tmp_path: Path) -> None:
    files = open_model(demo_model)
    with load(files, settings()) as first:
        said = tokens(first)
    [census] = tmp_path.rglob("*.json")
    census.write_text("{broken")
    with load(files, settings()) as second:
        assert tokens(second) == said
    assert list(tmp_path.rglob("*.damaged"))
