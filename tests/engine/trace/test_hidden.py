"""Hidden states: what the routers saw is kept with the trace, within its bound, and gives back the routing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.trace.format import RoutingTrace, TraceError, load
from engine.trace.recorder import Recorder
from engine.trace.run import RunSettings, record
from tests.models import Recipe

SETTINGS = RunSettings(tokens=8, ubatch=16, threads=1, chat=False, ignore_end=True)


def traced(path: Path, hidden_bytes: int) -> RoutingTrace:
    return record(path, ["hello there, what is this?"], SETTINGS, Recorder(hidden_bytes=hidden_bytes))


@pytest.mark.parametrize("architecture", ["qwen3moe", "glm4moe", "gpt-oss"])
def test_routers_and_streams_give_the_choice_of_every_layer(
    tiny_model: Callable[[Recipe], Path], architecture: str, tmp_path: Path
) -> None:
    """Softmax, sigmoid with a bias for the choice, and a bias of the logits: what is fitted on is what ran."""
    traced(tiny_model(Recipe(architecture)), 1 << 24).save(tmp_path / "t.npz")
    trace = load(tmp_path / "t.npz")
    hidden = trace.hidden
    assert hidden is not None and len(hidden.stream) == len(trace.batch)
    np.testing.assert_allclose(np.square(hidden.stream.astype(np.float32)).mean(-1), 1, rtol=0.02)
    right = []
    for layer in range(len(trace.layers)):
        scores = hidden.scores(layer, hidden.inputs(layer) @ hidden.router(layer).T)
        best = np.argsort(-scores, axis=-1)[:, : trace.n_used]
        right.append((best[:, :, None] == trace.selected[:, layer, None, :]).any(1).mean())
    assert min(right) > 0.95


def test_no_more_is_kept_than_there_is_room_for(demo_model: Path) -> None:
    a_token = 8 * 512 * 2
    trace = traced(demo_model, 5 * a_token + 1)
    assert trace.hidden is not None
    assert trace.hidden.stream.nbytes <= 5 * a_token + 1
    assert len(trace.hidden.stream) * trace.hidden.stream[0].nbytes + trace.hidden.stream[0].nbytes > 5 * a_token + 1
    assert len(trace.batch) > len(trace.hidden.stream)
    assert traced(demo_model, 0).hidden is None


def test_hidden_states_of_another_shape_are_refused(demo_model: Path, tmp_path: Path) -> None:
    traced(demo_model, 1 << 20).save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as file:
        arrays = dict(file)
    for name, wrong in (("hidden_matrix", arrays["hidden_matrix"][:, :-1]), ("hidden_bias", arrays["hidden_bias"][1:])):
        np.savez(tmp_path / "wrong.npz", **(arrays | {name: wrong}))
        with pytest.raises(TraceError, match="record it again"):
            load(tmp_path / "wrong.npz")
    del arrays["hidden_stream"]
    np.savez(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(TraceError, match="lacks a part"):
        load(tmp_path / "wrong.npz")
