"""Whether lookahead pays, found out on made-up machines: random times of tokens, seeded."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from engine.lookahead import trial
from engine.lookahead.trial import Comparison, LookaheadTrial


@dataclass
class Told:
    """What became of the tokens: seconds in all, seconds had lookahead never rested, and the tokens it rested for."""

    seconds: float
    never_resting: float
    rested: int


def run(watched: LookaheadTrial, tokens: int, gain: float, noise: float, seed: int = 1) -> Told:
    """`gain`: how many times as fast tokens are with lookahead; `noise`: standard deviation of a token's log time."""
    chance, told = random.Random(seed), Told(0.0, 0.0, 0)
    for _ in range(tokens):
        usual = 0.2 * chance.lognormvariate(0.0, noise)
        took = usual * gain if watched.resting else usual
        told.seconds, told.never_resting = told.seconds + took, told.never_resting + usual
        told.rested += watched.resting
        watched.observe(took)
    return told


def settled() -> LookaheadTrial:
    """Where the first comparison begins."""
    watched = LookaheadTrial()
    for _ in range(trial.SETTLING):
        assert not watched.observe(0.1)
    return watched


def each_seed(told: Callable[[int], Told]) -> Iterator[Told]:
    for seed in range(200):
        yield told(seed)


@pytest.mark.parametrize("noise", [0.03, 0.1])
def test_where_it_pays_it_is_left_on_for_the_price_of_a_few_tokens(noise: float) -> None:
    told = list(each_seed(lambda seed: run(settled(), 400, gain=1.2, noise=noise, seed=seed)))
    assert sum(t.seconds for t in told) < 1.02 * sum(t.never_resting for t in told)
    assert sum(t.rested > 24 for t in told) <= 4  # of 200


@pytest.mark.parametrize("noise", [0.03, 0.1])
def test_where_it_costs_it_rests_before_long(noise: float) -> None:
    told = list(each_seed(lambda seed: run(settled(), 400, gain=0.85, noise=noise, seed=seed)))
    assert sum(t.rested < 300 for t in told) <= 20  # of 200
    best = sum(t.never_resting for t in told) * 0.85
    assert sum(t.seconds for t in told) < 1.05 * best


def test_where_it_makes_no_difference_noise_changes_little() -> None:
    told = list(each_seed(lambda seed: run(settled(), 400, gain=1.0, noise=0.15, seed=seed)))
    assert sum(t.rested > 100 for t in told) <= 14  # of 200


def test_a_machine_that_changes_is_followed() -> None:
    watched = settled()
    assert run(watched, 100, gain=0.8, noise=0.02).rested > 50
    assert watched.resting and watched.gain is not None and watched.gain < 0.9
    run(watched, trial.CALM + 100, gain=1.25, noise=0.02)
    assert not watched.resting and watched.gain is not None and watched.gain > 1.15


def test_a_new_answer_ends_a_comparison_that_is_under_way() -> None:
    watched = settled()
    for _ in range(trial.BESIDE):
        watched.observe(0.1)
    assert watched.resting
    assert not watched.begin_answer()
    for _ in range(trial.BESIDE - 1):
        assert not watched.observe(0.1)


def test_a_comparison_tells_by_how_much_and_how_surely() -> None:
    found = Comparison.of([0.0] * 9, [-0.1] * 3)
    assert found.gain == pytest.approx(0.1)
    assert found.error == pytest.approx(trial.LEAST_NOISE * (1 / 9 + 1 / 3) ** 0.5)
    assert Comparison.of([0.0, 0.4] * 5, [-0.1] * 3).error > 3 * found.error
