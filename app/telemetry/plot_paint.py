"""Drawing series quickly: thousands of points without a Python loop."""

from __future__ import annotations

import numpy as np
import shiboken6
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPolygonF

from app.telemetry.series import Array


def thinned(values: Array, points: int) -> Array:
    """At most `points` values: means of equal stretches, NaN where a stretch has none."""
    if len(values) <= points or points < 1:
        return values
    step = -(-len(values) // points)
    whole = values[len(values) % step :].reshape(-1, step)
    result: Array = whole.mean(axis=1)
    if np.isnan(result).any():  # only stretches with gaps need the dearer way
        counted = np.isfinite(whole)
        counts = counted.sum(axis=1)
        result = np.where(counts > 0, np.where(counted, whole, 0.0).sum(axis=1) / np.maximum(counts, 1), np.nan)
    return result


def polygon(x: Array, y: Array) -> QPolygonF:
    """Points (x, y) as Qt's type, copied as one block of memory."""
    made = QPolygonF()
    made.resize(len(x))
    if len(x):
        memory = shiboken6.VoidPtr(made.data(), len(x) * 16, True)  # type: ignore[call-arg, arg-type]
        block = np.frombuffer(memory, dtype=np.float64).reshape(-1, 2)  # type: ignore[call-overload]
        block[:, 0] = x
        block[:, 1] = y
    return made


def stretches(values: Array) -> list[slice]:
    """Unbroken runs of finite values, so that a gap is drawn as a gap."""
    finite = np.concatenate([[False], np.isfinite(values), [False]])
    edges = np.flatnonzero(finite[1:] != finite[:-1])
    return [slice(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def placed(values: Array, area: QRectF, low: float, high: float, capacity_share: float) -> tuple[Array, Array]:
    """Pixel positions of values that fill the right `capacity_share` of `area`, scaled from low..high."""
    span = high - low if high > low else 1.0
    width = area.width() * capacity_share
    x = (
        area.right() - width + np.linspace(0.0, width, len(values))
        if len(values) > 1
        else np.full(len(values), area.right())
    )
    y = area.bottom() - (np.clip(values, low, high) - low) / span * area.height()
    return x, y
