"""Medians, spreads and ratios of interleaved pairs. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Spread:
    """The middle of some values and how far they lie apart."""

    median: float
    lowest: float
    highest: float
    count: int


def spread(values: Sequence[float | None]) -> Spread | None:
    """The spread of the values that are there; None if there are none."""
    known = [value for value in values if value is not None]
    return Spread(median(known), min(known), max(known), len(known)) if known else None


def pair_ratios(one: Sequence[float | None], other: Sequence[float | None]) -> list[float]:
    """`one[i] / other[i]` of the runs that were done side by side; a pair with a missing value is left out."""
    pairs = zip(one, other, strict=False)
    return [a / b for a, b in pairs if a is not None and b is not None and b != 0]


def drift(values: Sequence[float]) -> float | None:
    """How far the last third of `values` lies from the first third, as a share of it; None for fewer than three."""
    third = len(values) // 3
    if third == 0:
        return None
    first = median(values[:third])
    return median(values[-third:]) / first - 1 if first else None
