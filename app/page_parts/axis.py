"""Round numbers for the axes of plots. Pure."""

from __future__ import annotations

import math


def round_ticks(largest: float, about: int = 4) -> tuple[float, ...]:
    """From 0 to the first tick that is not below `largest`, in steps of 1, 2 or 5 times a power of ten."""
    if not largest > 0 or math.isinf(largest):
        return (0.0, 1.0)
    raw = largest / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * 0.999)
    count = math.ceil(largest / step - 1e-9)
    return tuple(step * number for number in range(count + 1))


def spread_apart(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Positions of labels, each as near as may be to the wanted one and `gap` from the next, within low..high."""
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    placed = [0.0] * len(wanted)
    floor = low
    for at in order:
        placed[at] = max(wanted[at], floor)
        floor = placed[at] + gap
    ceiling = high
    for at in reversed(order):
        placed[at] = min(placed[at], ceiling)
        ceiling = placed[at] - gap
    return placed
