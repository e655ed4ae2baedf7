"""A wrong median or pairing would let a slower program look faster."""

from __future__ import annotations

import pytest

from engine.bench.statistics import Spread, drift, pair_ratios, spread


def test_a_spread_is_the_middle_and_the_ends() -> None:
    assert spread([5.0, 1.0, 2.0]) == Spread(2.0, 1.0, 5.0, 3)
    assert spread([4.0, None, 1.0]) == Spread(2.5, 1.0, 4.0, 2)
    assert spread([None]) is None


def test_a_pair_that_lost_a_run_does_not_shift_the_others() -> None:
    assert pair_ratios([2.0, None, 9.0], [1.0, 5.0, 3.0]) == [2.0, 3.0]
    assert pair_ratios([2.0, 3.0], [1.0]) == [2.0]
    assert pair_ratios([2.0], [0.0]) == []


def test_the_median_is_of_ratios_and_not_a_ratio_of_medians() -> None:
    """On a machine that slows down between rounds both arms slow down: each pair says 2, medians across would not."""
    ours, theirs = [20.0, 2.0, 4.0], [10.0, 1.0, 2.0]
    middle = spread(pair_ratios(ours, theirs))
    assert middle is not None and middle.median == middle.lowest == middle.highest == 2.0


def test_drift_compares_the_end_with_the_beginning() -> None:
    assert drift([10.0, 10.0, 10.0, 9.0, 9.0, 9.0]) == pytest.approx(-0.1)
    assert drift([5.0] * 9) == 0.0
    assert drift([1.0, 2.0]) is None
