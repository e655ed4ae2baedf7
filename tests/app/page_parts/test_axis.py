"""Axes with round numbers, and labels that do not lie on each other."""

from __future__ import annotations

import math

import pytest

from app.page_parts.axis import round_ticks, spread_apart


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [
        (5.4, (0, 2, 4, 6)),
        (2.5e9, (0, 1e9, 2e9, 3e9)),
        (0.9, (0, 0.5, 1.0)),
        (4.0, (0, 1, 2, 3, 4)),
        (0.0, (0, 1)),
        (math.nan, (0, 1)),
        (math.inf, (0, 1)),
    ],
)
def test_ticks_are_round_and_reach_the_largest_value(largest: float, ticks: tuple[float, ...]) -> None:
    assert round_ticks(largest) == pytest.approx(ticks)


def test_labels_keep_their_order_and_their_distance() -> None:
    assert spread_apart([50.0, 10.0], 12, 0, 100) == [50.0, 10.0]
    close = spread_apart([95.0, 96.0, 97.0], 12, 0, 100)
    assert close == [76.0, 88.0, 100.0]
    assert spread_apart([], 12, 0, 100) == []
