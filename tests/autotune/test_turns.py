"""Whole turns decide what needs a new load: a wrong verdict makes every prompt or every answer slower."""

from __future__ import annotations

import pytest

from autotune.turns import MOST_PAIRS, TurnRace, TurnTime, longest_prompt


def raced(prompt_gain: float, decode_gain: float, pairs: int, noise: tuple[float, ...] = (1.0, 1.03, 0.97)) -> TurnRace:
    """A challenger that computes prompts and answers so many times as fast; every run scatters."""
    race = TurnRace("defaults", ["other"])
    for i in range(pairs):
        scatter = noise[i % len(noise)]
        race.record("defaults", TurnTime(10.0, (0.2,) * 12))
        race.record("other", TurnTime(10.0 * prompt_gain * scatter, (0.2 / decode_gain / scatter,) * 12))
    return race


def test_faster_prompts_with_equally_fast_answers_win() -> None:
    race = raced(3.0, 1.0, 3)
    assert race.decided()
    assert race.winner() == "other"


def test_faster_prompts_are_not_bought_with_slower_answers() -> None:
    assert raced(3.0, 0.9, 3).winner() == "defaults"


@pytest.mark.parametrize("pairs", [0, 1])
def test_one_pair_proves_nothing(pairs: int) -> None:
    race = raced(3.0, 1.0, pairs)
    assert not race.decided()
    assert race.winner() == "defaults"


def test_a_tie_leaves_what_was_there_and_ends_in_time() -> None:
    race = raced(1.0, 1.0, MOST_PAIRS)
    assert race.decided()
    assert race.winner() == "defaults"


def test_a_challenger_that_fails_is_out() -> None:
    race = raced(3.0, 1.0, 3)
    race.drop("other")
    assert race.decided()
    assert race.winner() == "defaults"


def test_the_prompt_is_the_longest_of_which_all_runs_fit() -> None:
    each = {64: 4.0, 128: 6.0, 256: 10.0, 512: 20.0}
    assert longest_prompt(45.0, each, 4) == 256
    assert longest_prompt(10.0, each, 4) == 0
