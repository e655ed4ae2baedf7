"""Recording with stock llama.cpp: the trace shows the experts that ran and what their routers would have guessed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.trace.format import NONE, RoutingTrace
from engine.trace.recorder import Recorder
from engine.trace.run import RunSettings, TraceRunError, record
from tests.models import Recipe


@pytest.fixture(scope="module")
def trace(demo_model: Path) -> RoutingTrace:
    settings = RunSettings(tokens=24, ubatch=16, threads=1)
    return record(demo_model, ["Tell me a story about a fox.", "What is 3 + 4?"], settings, Recorder(all_scores=True))


def test_every_token_has_its_experts(trace: RoutingTrace) -> None:
    """Without this the simulator would judge policies on routing that never happened."""
    assert (trace.n_experts, trace.n_used, trace.layers) == (32, 4, tuple(range(8)))
    ordered = np.sort(trace.ranked, axis=-1)
    assert (np.diff(ordered.astype(int), axis=-1) > 0).all()
    assert 24 < trace.decoded.sum() <= 48


def test_prompts_are_marked_in_the_ubatches_they_were_evaluated_in(trace: RoutingTrace) -> None:
    sizes = np.bincount(trace.batch)
    prompt = ~trace.decoded[np.searchsorted(trace.batch, np.arange(len(sizes)))]
    assert sizes[prompt].max() == 16
    assert (sizes[~prompt] == 1).all()


def test_the_understood_router_chooses_what_the_model_chose(trace: RoutingTrace) -> None:
    """If gating or bias were read wrongly from the graph, predictions would be, too."""
    assert trace.router is not None
    best = np.argsort(-trace.router.astype(np.float32), axis=-1, kind="stable")[..., : trace.n_used]
    agreement = (best[..., :, None] == trace.selected[..., None, :]).any(-1).mean()
    assert agreement > 0.99


def test_routers_applied_early_recall_what_the_next_layers_choose(trace: RoutingTrace) -> None:
    decoded = trace.decoded
    recalls = []
    for distance in (1, 2, 3):
        guesses = trace.predicted[decoded, distance:, distance - 1, : trace.n_used]
        chosen = trace.selected[decoded, distance:]
        recalls.append((guesses[..., :, None] == chosen[..., None, :]).any(-1).mean())
    assert recalls[0] > 0.6
    assert recalls[0] > recalls[1] > recalls[2] > 0.4


def test_prompts_and_first_layers_have_no_predictions(trace: RoutingTrace) -> None:
    assert (trace.predicted[~trace.decoded] == NONE).all()
    assert (trace.predicted[:, 0] == NONE).all()
    assert (trace.predicted[:, 2, 2] == NONE).all()
    assert (trace.predicted[trace.decoded, 3] != NONE).all()


def test_recording_again_gives_the_same_trace(demo_model: Path, trace: RoutingTrace) -> None:
    settings = RunSettings(tokens=24, ubatch=16, threads=1)
    again = record(demo_model, ["Tell me a story about a fox.", "What is 3 + 4?"], settings, Recorder())
    np.testing.assert_array_equal(again.ranked, trace.ranked)


@pytest.mark.parametrize("architecture", ["glm4moe", "gpt-oss", "qwen2moe"])
def test_biased_and_sigmoid_routers_are_understood(tiny_model: Callable[[Recipe], Path], architecture: str) -> None:
    """A bias that is added for the selection only must be part of the guess."""
    path = tiny_model(Recipe(architecture))
    settings = RunSettings(tokens=6, chat=False, ignore_end=True, threads=1)
    trace = record(path, ["hello there"], settings, Recorder(all_scores=True))
    assert trace.router is not None
    best = np.argsort(-trace.router.astype(np.float32), axis=-1, kind="stable")[..., : trace.n_used]
    assert (best[..., :, None] == trace.selected[..., None, :]).any(-1).mean() > 0.95


def test_nothing_recorded_is_no_trace() -> None:
    """A model without experts must not give an empty trace that fails later."""
    with pytest.raises(ValueError, match="no router"):
        Recorder().trace("dense")


def test_a_file_that_is_no_model_is_one_line_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "no.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(TraceRunError, match=r"no\.gguf") as caught:
        record(path, ["hello"], RunSettings(tokens=1, chat=False), Recorder())
    assert "\n" not in str(caught.value)
