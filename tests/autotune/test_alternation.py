"""The check of a tuning: if it cannot tell 2 % or finds an effect where there is none, nobody can rely on a tuning."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from autotune.alternation import Plan, Side, interval, plan, ratios


def measured(plan: Plan, speedup: float, noise: float, seed: int, *, second_pass: float = 0.8) -> list[float]:
    """Ratios of a machine whose tokens differ, whose second pass is faster, whose rate drifts and which scatters."""
    draw = random.Random(seed)
    work = {(t, n): math.exp(draw.gauss(0, 0.3)) for t in range(plan.texts) for n in range(plan.blocks)}
    drift, found = 0.0, []
    for answer in plan.answers():
        for block in answer:
            drift += draw.gauss(0, noise / 2)
            seconds = work[block.text, block.number] * math.exp(drift + draw.gauss(0, noise))
            seconds *= (second_pass if block.passing else 1.0) / (speedup if block.side is Side.TUNED else 1.0)
            found.append((block, seconds))
    return ratios(found)


def test_both_settings_compute_every_token_and_each_is_first_as_often() -> None:
    answers = Plan(texts=4, blocks=6, tokens=10).answers()
    blocks = [block for answer in answers for block in answer]
    places: dict[tuple[int, int], list[Side]] = {}
    for block in blocks:
        places.setdefault((block.text, block.number), []).append(block.side)
    assert all(sides[0] is sides[1].other for sides in places.values())
    for passing in range(2):
        assert len(set(Counter(b.side for b in blocks if b.passing == passing).values())) == 1
        assert len(set(Counter(a[0].side for a in answers if a[0].passing == passing).values())) == 1


def test_without_noise_the_ratio_is_exact_whatever_the_tokens_cost_and_whoever_is_first() -> None:
    found = measured(Plan(4, 8, 10), 1.07, 0.0, 1)
    assert len(found) == 16
    assert found == pytest.approx([1.07] * 16)


def test_equal_settings_come_out_equal_within_two_percent_on_a_machine_that_scatters_by_six() -> None:
    wrong, widths = 0, []
    for seed in range(200):
        found = interval(measured(Plan(4, 10, 10), 1.0, 0.06, seed))
        assert found is not None
        wrong += not found.low <= 1.0 <= found.high
        widths.append(found.high / found.low)
        assert 0.95 < found.middle < 1.05
    assert wrong <= 20  # 5 % are to be expected
    assert sorted(widths)[100] < 1.08


def test_a_loss_of_five_percent_is_seen() -> None:
    seen = sum(
        (interval(measured(Plan(4, 10, 10), 0.95, 0.03, seed)) or pytest.fail("")).high < 1 for seed in range(50)
    )
    assert seen >= 45


def test_one_spoiled_block_does_not_move_the_middle() -> None:
    found = interval([1.0, 1.01, 0.99, 1.0, 0.2, 1.02, 0.98, 1.0])
    assert found is not None
    assert found.middle == pytest.approx(1.0, abs=0.01)


def test_of_few_ratios_no_interval_is_claimed() -> None:
    assert interval([1.0] * 5) is None


def test_a_block_that_one_pass_did_not_reach_is_left_out() -> None:
    blocks = [(b, 1.0) for answer in Plan(1, 4, 10).answers() for b in answer]
    assert len(ratios(blocks[:-1])) == 1


@pytest.mark.parametrize("token_s", [0.02, 0.07, 0.2, 1.0, 4.0])
def test_the_plan_keeps_its_time(token_s: float) -> None:
    found = plan(160.0, token_s, 4, 4000)
    assert found is not None
    computed = sum(len(answer) for answer in found.answers()) * found.tokens
    assert 80 <= computed * token_s <= 160.0
    assert found.left_out < found.tokens / 2


def test_where_there_is_no_time_for_two_blocks_there_is_no_plan() -> None:
    assert plan(10.0, 4.0, 4, 4000) is None
    assert plan(160.0, 0.2, 4, 15) is None
