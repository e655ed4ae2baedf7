"""The fit finds what can be found, does not invent what cannot, and is judged on tokens it has not seen."""

from __future__ import annotations

import numpy as np
import pytest

from engine.lookahead.fit import Fit, Split, _Basis, recall
from engine.trace.format import NONE, RoutingTrace
from engine.trace.hidden import HiddenStates

TOKENS, WIDTH, EXPERTS, USED = 900, 48, 16, 3


def made(shift: float, noise: float, steps: tuple[str, ...] = ("SOFT_MAX",), prompts: int = 100) -> RoutingTrace:
    """Two layers; between them the stream moves by `shift` times a map of rank 5, and by noise."""
    random = np.random.default_rng(7)
    matrix = random.normal(size=(2, EXPERTS, WIDTH)).astype(np.float16)
    moves = random.normal(size=(WIDTH, 5)) @ random.normal(size=(5, WIDTH)) / WIDTH
    stream = np.zeros((TOKENS, 2, WIDTH), np.float32)
    stream[:, 0] = random.normal(size=(TOKENS, WIDTH))
    stream[:, 1] = stream[:, 0] @ (np.eye(WIDTH) + shift * moves) + noise * random.normal(size=(TOKENS, WIDTH))
    stream /= np.sqrt(np.square(stream).mean(-1, keepdims=True))
    bias = np.zeros((2, EXPERTS), np.float32)
    bias[:, 3] = 2.0 if "ADD" in steps else 0.0
    hidden = HiddenStates(stream.astype(np.float16), matrix, bias, (steps, steps))
    scores = [hidden.scores(at, hidden.inputs(at) @ hidden.router(at).T) for at in (0, 1)]
    ranked = np.argsort(-np.stack(scores, 1), axis=-1)[..., :USED].astype(np.uint16)
    predicted = np.full((TOKENS, 2, 1, USED), NONE, np.uint16)
    decoded = np.arange(TOKENS) >= prompts
    return RoutingTrace(
        "made", (0, 1), EXPERTS, USED, np.arange(TOKENS, dtype=np.int32), decoded, ranked, predicted,
        np.zeros(predicted.shape, np.float16), hidden=hidden,
    )  # fmt: skip


@pytest.mark.parametrize("steps", [("SOFT_MAX",), ("SIGMOID", "ADD"), ("ADD",)])
def test_a_move_that_is_always_the_same_is_learnt(steps: tuple[str, ...]) -> None:
    [(outcome, part)] = Fit(made(4.0, 0.05, steps)).run([1, 2])
    assert part is not None and (outcome.layer, outcome.distance) == (1, 1)
    assert outcome.without < 0.7
    assert outcome.corrected > 0.88
    assert outcome.rank == len(part.down) in (8, EXPERTS)


def test_where_there_is_nothing_to_learn_nothing_is_lost() -> None:
    [(outcome, _)] = Fit(made(0.0, 0.4)).run([1])
    assert outcome.corrected > outcome.without - 0.02


def test_a_router_that_is_right_already_is_left_alone() -> None:
    [(outcome, part)] = Fit(made(0.0, 0.0)).run([1])
    assert part is None and outcome.rank is None
    assert outcome.corrected == outcome.without == 1.0


def test_a_router_that_is_not_understood_is_left_out() -> None:
    trace = made(1.0, 0.1)
    assert trace.hidden is not None
    object.__setattr__(trace.hidden, "steps", (None, ("SOFT_MAX",)))
    assert list(Fit(trace).run([1])) == []


def test_the_three_parts_of_the_tokens_follow_one_another() -> None:
    trace = made(1.0, 0.1)
    assert trace.hidden is not None
    split = Split.of(trace, trace.hidden)
    assert np.flatnonzero(split.fit).max() < np.flatnonzero(split.choose).min()
    assert np.flatnonzero(split.choose).max() < np.flatnonzero(split.test).min()
    assert (split.fit.sum(), split.choose.sum(), split.test.sum()) == (580, 160, 160)
    assert trace.decoded[split.choose | split.test].all()


def test_too_little_to_learn_from_is_said() -> None:
    with pytest.raises(ValueError, match="too few decoded tokens"):
        Fit(made(1.0, 0.1, prompts=TOKENS - 2))


def test_recall_is_the_share_of_the_selected_among_the_best() -> None:
    scores = np.array([[0.1, 0.9, 0.5, 0.2], [0.4, 0.3, 0.2, 0.1]], np.float32)
    assert recall(scores, np.array([[1, 0], [0, 1]])) == 0.75


def test_fewer_tokens_than_dimensions_give_the_same_as_the_long_way_round() -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(40, 48)).astype(np.float32)
    residual = random.normal(size=(40, EXPERTS)).astype(np.float32)
    short = _Basis.of(x)
    centred = x - x.mean(0)
    values, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    long = _Basis(x.mean(0), centred, vectors, np.maximum(values, 0))
    assert len(short.values) < 40
    for one, other in zip(short.corrections(residual), long.corrections(residual), strict=True):
        np.testing.assert_allclose(one.up @ one.down, other.up @ other.down, atol=1e-3)
        np.testing.assert_allclose(one.bias, other.bias, atol=1e-3)
