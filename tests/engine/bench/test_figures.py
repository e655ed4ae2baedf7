"""Figures that decide claims: each wrong one would be printed as a fact about somebody's machine."""

from __future__ import annotations

import pytest

from engine.bench.figures import FIGURES
from engine.bench.suites import SUITES
from tests.engine.bench.records import run_of

MIB = 1 << 20


def figure(name: str, **values: object) -> float | None:
    return FIGURES[name].of(run_of("gannet", **values))


def test_the_roofline_is_the_slower_of_computing_and_reading() -> None:
    reading = {"missed_bytes_per_token": 100 * MIB, "drive_bytes_s": 1000 * MIB, "decode_tok_s": 5.0}
    assert figure("roofline_share", compute_s=0.05, **reading) == pytest.approx(0.5)
    assert figure("roofline_share", compute_s=0.18, **reading) == pytest.approx(0.9)
    assert figure("roofline_share", **reading) is None


def test_the_bound_of_a_cold_start_is_what_has_to_be_read() -> None:
    values = {"resident_bytes": 300, "prompt_distinct_bytes": 700, "drive_bytes_s": 500.0, "first_token_s": 3.0}
    assert figure("bound_s", **values) == 2.0
    assert figure("first_token_over_bound", **values) == 1.5


def test_reading_an_expert_twice_is_seen() -> None:
    assert figure("read_ratio", prompt_read_bytes=300, prompt_distinct_bytes=200) == 1.5
    assert figure("read_ratio") is None


def test_the_first_tokens_of_a_reply_are_compared_with_those_around_the_tenth() -> None:
    assert figure("first_over_tenth", token_s=(3.0, 3.0, 3.0, *[9.0] * 5, 1.0, 2.0, 3.0)) == 1.5
    assert figure("first_over_tenth", token_s=(1.0,) * 10) is None


def test_drift_leaves_out_the_answer_that_fills_the_cache() -> None:
    answers = ((1.0, 50), *((10.0, 100),) * 3, *((9.5, 104),) * 3)
    assert figure("speed_drift", answers=answers) == pytest.approx(0.05)
    assert figure("memory_drift", answers=answers) == pytest.approx(0.04)


def test_drift_within_an_answer_is_told_from_drift_between_answers() -> None:
    blocks = ((1.0, 50), *((10.0, 100),) * 3, *((8.0, 101),) * 3)
    assert figure("block_speed_drift", blocks=blocks) == pytest.approx(0.2)
    assert figure("block_memory_drift", blocks=blocks) == pytest.approx(0.01)
    assert figure("speed_drift", blocks=blocks) is None


def test_peak_memory_is_that_of_the_group_where_there_is_one() -> None:
    assert figure("peak_gib", rss_peak_bytes=1 << 30) == 1
    assert figure("peak_gib", rss_peak_bytes=1 << 30, group_peak_bytes=2 << 30) == 2
    assert figure("peak_over_limit", group_peak_bytes=3, limit_bytes=4) == 0.75


def test_every_column_and_claim_names_a_figure_and_an_arm_that_exist() -> None:
    for suite in SUITES.values():
        arms = {arm.name for arm in suite.expanded(suite.caches).arms}
        assert set(suite.columns) <= set(FIGURES)
        for claim in suite.claims:
            assert claim.figure in FIGURES and (claim.against_figure or claim.figure) in FIGURES
            assert claim.arm in arms and (claim.against is None or claim.against in arms), f"{suite.name}: {claim}"
