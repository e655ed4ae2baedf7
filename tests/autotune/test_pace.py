"""How the time is spent: the promise to be done in three minutes rests on this."""

from __future__ import annotations

import pytest

from autotune.pace import CONFIRM_RUNS, CONFIRM_SHARE, RUN_OVERHEAD_SECONDS, halving_runs, pace, probe_scale


@pytest.mark.parametrize("measure_s", [20, 60, 130, 500])
@pytest.mark.parametrize("token_s", [0.01, 0.1, 0.25, 1.0])
def test_the_rounds_fit_into_their_share_of_the_time(measure_s: float, token_s: float) -> None:
    found = pace(measure_s, token_s, 3)
    took = halving_runs(found.arms, 3) * ((found.tokens + 1) * token_s + RUN_OVERHEAD_SECONDS)
    assert took <= measure_s * (1 - CONFIRM_SHARE) * 1.01
    last = CONFIRM_RUNS * ((found.confirm_tokens + 1) * token_s + RUN_OVERHEAD_SECONDS)
    assert last <= measure_s * (1.0 if found.arms == 2 else CONFIRM_SHARE) * 1.01 or found.confirm_tokens == 2


def test_a_slow_model_is_given_fewer_arms_rather_than_meaningless_runs() -> None:
    quick, slow = pace(130, 0.2, 3), pace(130, 1.0, 3)
    assert slow.arms < quick.arms
    assert slow.tokens >= 2
    assert slow.confirm_tokens >= 2


def test_two_arms_need_no_halving() -> None:
    assert halving_runs(2, 3) == 0
    assert halving_runs(3, 3) == 9
    assert halving_runs(8, 3) == 24 + 12


def test_a_short_budget_shortens_the_probes_and_a_long_one_does_not_stretch_them() -> None:
    assert probe_scale(30) < probe_scale(90) <= probe_scale(1000) == 1.0
    assert probe_scale(10) >= 0.05
