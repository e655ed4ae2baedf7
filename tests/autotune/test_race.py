"""The decision between settings: a loss here makes a user's machine slower by "tuning" it, or leaves speed unused."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping

import pytest

from autotune.race import Race, Turn

N_PROMPTS = 3


def simulate(race: Race, speeds: Mapping[str, float], noise: float, seed: int, confirmations: int = 4) -> str:
    """Run a race on a simulated machine whose runs scatter by `noise` (log-normal) and drift slowly."""
    draw = random.Random(seed)
    drift = 0.0
    work = [1.0, 1.4, 0.8]

    def run(turn: Turn) -> None:
        nonlocal drift
        drift += draw.gauss(0, noise / 3)
        factor = math.exp(draw.gauss(0, noise) + drift)
        race.record(turn, [work[turn.prompt] * factor / speeds[turn.arm] / 10] * 10)

    while turns := race.round():
        for turn in turns:
            run(turn)
        race.halve()
    for _ in range(confirmations):
        for turn in race.confirmation():
            run(turn)
        if race.decided():
            break
    return race.verdict().winner


ARMS = ["defaults", "a", "b", "c", "d", "e", "f", "g"]


def test_a_clearly_faster_arm_is_found_on_a_noisy_machine() -> None:
    speeds = dict.fromkeys(ARMS, 1.0) | {"e": 1.5, "b": 0.6}
    found = [simulate(Race(ARMS, N_PROMPTS), speeds, 0.10, seed) for seed in range(60)]
    assert found.count("e") >= 57
    assert set(found) <= {"e", "defaults"}


def test_where_nothing_is_better_the_defaults_stay() -> None:
    speeds = dict.fromkeys(ARMS, 1.0)
    found = [simulate(Race(ARMS, N_PROMPTS), speeds, 0.10, seed) for seed in range(200)]
    assert found.count("defaults") >= 185


def test_on_a_busy_machine_luck_seldom_passes_for_speed_though_there_are_several_looks() -> None:
    speeds = dict.fromkeys(ARMS, 1.0)
    found = [simulate(Race(ARMS, N_PROMPTS), speeds, 0.30, seed) for seed in range(400)]
    assert found.count("defaults") >= 388  # 3 %; one look at 95 % would allow 2.5 %


def test_what_is_chosen_is_never_clearly_slower_than_the_defaults() -> None:
    """The issue's bound: tuned over default never below 0.98, also where all candidates are a little worse."""
    draw = random.Random(5)
    for seed in range(200):
        speeds = {arm: 1.0 if arm == "defaults" else draw.uniform(0.7, 1.05) for arm in ARMS}
        winner = simulate(Race(ARMS, N_PROMPTS), speeds, 0.08, seed)
        assert speeds[winner] >= 0.98, (seed, speeds)


def test_the_defaults_win_a_tie() -> None:
    race = Race(["defaults", "same"], N_PROMPTS)
    for _ in range(2):
        for turn in race.confirmation():
            race.record(turn, [0.1] * 8)
    assert race.verdict().winner == "defaults"
    assert race.verdict().because == "tie"


def test_a_gain_that_is_certain_but_tiny_is_not_taken() -> None:
    race = Race(["defaults", "hair"], N_PROMPTS)
    for _ in range(4):
        for turn in race.confirmation():
            race.record(turn, [0.1 if turn.arm == "defaults" else 0.0995] * 8)
    assert race.verdict().winner == "defaults"


def test_too_few_pairs_leave_the_defaults_and_say_so() -> None:
    race = Race(["defaults", "twice"], N_PROMPTS)
    for turn in race.confirmation()[:-2]:
        race.record(turn, [0.1 if turn.arm == "defaults" else 0.05] * 8)
    verdict = race.verdict()
    assert (verdict.winner, verdict.because, verdict.best) == ("defaults", "too few", "twice")


def test_halving_keeps_the_better_half_and_always_the_defaults() -> None:
    race = Race(["defaults", "slow", "slower", "fast", "faster"], N_PROMPTS)
    speed = {"defaults": 1.0, "slow": 0.8, "slower": 0.5, "fast": 1.2, "faster": 1.6}
    for turn in race.round():
        race.record(turn, [1 / speed[turn.arm]])
    assert race.halve() == ["slow", "slower"]
    assert race.running == ["defaults", "faster", "fast"]


def test_an_arm_that_crashed_is_out_and_the_defaults_cannot_be_dropped() -> None:
    race = Race(["defaults", "a", "b"], N_PROMPTS)
    race.drop("a")
    race.drop("defaults")
    assert race.running == ["defaults", "b"]


def test_a_run_that_was_cut_short_is_compared_on_the_tokens_it_has() -> None:
    race = Race(["defaults", "cut"], N_PROMPTS)
    for arm, seconds in (("defaults", [0.1, 0.1, 0.9]), ("cut", [0.2, 0.2])):
        race.record(Turn(arm, 0, True), seconds)
    assert race.ratios("cut") == [pytest.approx(0.5)]


@pytest.mark.parametrize("n_prompts", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("n_arms", range(2, 9))
def test_all_arms_answer_all_prompts_and_every_prompt_is_equally_long_ago(n_arms: int, n_prompts: int) -> None:
    """A run that comes sooner after its own prompt finds more of it in the cache and passes for faster."""
    race = Race(ARMS[:n_arms], n_prompts)
    made: list[Turn] = []
    for ask, cut in ((race.round, None), (race.confirmation, None), (race.round, n_prompts + 1), (race.round, None)):
        turns = ask() or race.confirmation()
        for arm in {t.arm for t in turns}:
            assert sorted(t.prompt for t in turns if t.arm == arm) == list(range(n_prompts))
        for turn in turns[:cut]:  # a round may be cut short when its time is over
            race.record(turn, [0.1])
            made.append(turn)
    assert all((a.prompt + 1) % n_prompts == b.prompt for a, b in itertools.pairwise(made))
