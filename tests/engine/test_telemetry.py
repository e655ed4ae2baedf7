"""What a loaded model counts: figures that contradict each other would send whoever tunes it the wrong way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.answer import AnswerOptions, answer
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.settings import EngineSettings

TOKENS = 12


@pytest.fixture(scope="module")
def used(demo_model: Path) -> Iterator[LoadedModel]:
    """A model with a cache far too small, that has answered."""
    settings = EngineSettings(context_length=256, threads=1, cache_bytes=0, census=False, elastic=False)
    with load(open_model(demo_model), settings) as loaded:
        prompt = loaded.llama.tokenize(b"Tell me a story about a fox.", special=True)
        list(answer(loaded, prompt, AnswerOptions(max_tokens=TOKENS, temperature=0.0, ignore_end=True)))
        yield loaded


def test_the_parts_of_the_time_are_the_whole(used: LoadedModel) -> None:
    assert used.streamer is not None
    whole = used.streamer.native.counters()["compute_ns"] / 1e9
    now = used.telemetry()
    assert now.stall_seconds > 0
    parts = now.dense_seconds + now.expert_seconds + now.stall_seconds + now.predict_seconds
    assert parts == pytest.approx(whole, rel=1e-3)


def test_an_expert_that_was_used_has_a_token_of_its_last_use(used: LoadedModel) -> None:
    experts, now = used.expert_map(), used.telemetry()
    for uses, last in zip(experts.uses, experts.last_use, strict=True):
        assert [n > 0 for n in uses] == [token > 0 for token in last]
        assert max(last) == now.tokens_prompt + now.tokens_decoded
        assert min(last) == -1, "some are never used by an answer this short"
