"""The comparison of speeds: too sure, and noise becomes a setting; too shy, and nothing is ever gained."""

from __future__ import annotations

import math
import random

import pytest

from autotune.statistics import paired_ratio, pooled_noise, ratio_interval, speed_interval


def test_a_pair_is_compared_on_the_tokens_both_have() -> None:
    assert paired_ratio([0.2, 0.2, 5.0], [0.1, 0.1]) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="no token"):
        paired_ratio([], [0.1])


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    draw = random.Random(3)
    held = 0
    for _ in range(400):
        arms = {name: [math.exp(math.log(1.2) + draw.gauss(0, 0.1)) for _ in range(3)] for name in "abcd"}
        found = ratio_interval(arms["a"], *pooled_noise(arms))
        held += found.low <= 1.2 <= found.high
    assert held >= 0.93 * 400


def test_few_pairs_that_agree_by_luck_are_not_taken_for_certainty() -> None:
    found = ratio_interval([1.05, 1.05], *pooled_noise({"a": [1.05, 1.05]}))
    assert found.low < 1.0


def test_one_pair_says_next_to_nothing_but_stays_a_number() -> None:
    found = ratio_interval([3.0], *pooled_noise({"a": [3.0]}))
    assert 0 < found.low < 3.0 < found.high < 100


def test_one_interrupted_run_does_not_turn_the_middle() -> None:
    found = ratio_interval([1.2, 1.21, 0.3, 1.19, 1.2], 0.3, 4)
    assert found.middle == pytest.approx(1.2, rel=0.01)


def test_an_arm_without_runs_has_no_speed() -> None:
    assert speed_interval([]) is None
