"""A claim that does not hold, or an arm that computes something else, must never be reported as fine."""

from __future__ import annotations

import pytest

from engine.bench.claims import judge, same_text
from engine.bench.suites import Claim
from tests.engine.bench.records import run_of


def test_a_claim_is_judged_by_the_median_of_its_pairs() -> None:
    runs = [
        run_of("ours", decode_tok_s=6.0),
        run_of("stock", decode_tok_s=4.0),
        run_of("ours", decode_tok_s=8.0),
        run_of("stock", decode_tok_s=4.0),
        run_of("ours", decode_tok_s=2.0),
        run_of("stock", decode_tok_s=4.0),
    ]
    verdict = judge(Claim("decode_tok_s", "ours", 1.5, "stock"), runs)
    assert verdict.measured is not None and verdict.measured.median == 1.5 and verdict.measured.count == 3
    assert verdict.holds
    assert judge(Claim("decode_tok_s", "ours", 1.6, "stock"), runs).holds is False
    assert judge(Claim("decode_tok_s", "ours", 1.6, "stock", direction="at most"), runs).holds


def test_a_run_that_failed_keeps_its_place_in_the_pairs() -> None:
    runs = [
        run_of("ours", error="killed"),
        run_of("stock", decode_tok_s=1.0),
        run_of("ours", decode_tok_s=6.0),
        run_of("stock", decode_tok_s=3.0),
    ]
    verdict = judge(Claim("decode_tok_s", "ours", 1, "stock"), runs)
    assert verdict.measured is not None and (verdict.measured.median, verdict.measured.count) == (2.0, 1)


def test_what_was_not_measured_is_neither_true_nor_false() -> None:
    assert judge(Claim("decode_tok_s", "ours", 1), [run_of("other", decode_tok_s=5.0)]).holds is None


def test_another_figure_of_the_other_arm_can_be_compared_with() -> None:
    runs = [run_of("ours", decode_tok_s=6.0), run_of("stock", decode_tok_s=3.0, answers=((3.0, 1), (4.0, 1)))]
    verdict = judge(Claim("decode_tok_s", "ours", 1, "stock", "second_tok_s"), runs)
    assert verdict.measured is not None and verdict.measured.median == 1.5


@pytest.mark.parametrize(("tokens", "same"), [((1, 2, 3), True), ((1, 2), True), ((1, 2, 4), False), ((9,), False)])
def test_tokens_are_compared_with_stock_as_far_as_both_go(tokens: tuple[int, ...], same: bool) -> None:
    stock = run_of("stock", plain=True, prompt=20, tokens=(1, 2, 3))
    assert same_text([run_of("ours", prompt=20, tokens=tokens)], [stock]) is same


def test_only_the_same_prompt_and_batches_are_compared() -> None:
    stock = run_of("stock", plain=True, prompt=20, tokens=(1, 2, 3))
    other = run_of("ours", prompt=20, tokens=(7,), settings={"ubatch": 2048})
    assert same_text([run_of("ours", prompt=1000, tokens=(7,)), other], [stock]) is None


def test_one_different_run_among_many_is_found() -> None:
    stock = run_of("stock", plain=True, prompt=20, tokens=(1, 2, 3))
    runs = [run_of("ours", prompt=20, tokens=tokens) for tokens in [(1, 2, 3), (1, 9, 3), (1, 2, 3)]]
    assert same_text(runs, [stock]) is False
