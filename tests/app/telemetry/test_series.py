"""The ring of samples behind every plot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.telemetry.series import Series


def test_the_last_samples_stay_in_order_when_the_ring_wraps() -> None:
    series = Series(("a", "b"), capacity=4)
    for second in range(11):
        series.add(float(second), {"a": second * 10.0, "b": -second})
        assert series.times().tolist() == [float(s) for s in range(max(0, second - 3), second + 1)]
        assert series.values("a").tolist() == [s * 10.0 for s in range(max(0, second - 3), second + 1)]
    assert len(series) == 4 and series.values("b").tolist() == [-7, -8, -9, -10]


def test_a_figure_without_a_value_leaves_a_gap_not_a_zero() -> None:
    series = Series(("a", "b"), capacity=4)
    series.add(1.0, {"a": 1.0})
    assert math.isnan(series.values("b")[0]) and series.values("a")[0] == 1.0


def test_reading_copies_nothing() -> None:
    """At ten samples a second for several plots, copies of minutes would be most of the dashboard's cost."""
    series = Series(("a",), capacity=100)
    series.add(1.0, {"a": 1.0})
    assert np.shares_memory(series.values("a"), series.values("a"))


def test_clearing_and_unknown_names() -> None:
    series = Series(("a",), capacity=2)
    series.add(1.0, {"a": 1.0})
    series.clear()
    assert len(series) == 0 and series.times().size == 0
    with pytest.raises(ValueError, match="tuple"):
        series.values("z")
