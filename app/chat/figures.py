"""What an answer cost, from the engine's timings, in words (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.i18n import number, tr


def figures(timings: Mapping[str, Any], first_token_s: float | None) -> dict[str, float]:
    """What is kept with an answer: `tokens_per_s`, `tokens`, `first_token_s`, `hit_rate` 0..1, `stall_s`,
    `bytes_read`.

    `timings` are the engine's (see the HTTP contract), `first_token_s` what the window measured; what is not known is
    left out.
    """
    found: dict[str, float] = {}
    count, spent = timings.get("predicted_n"), timings.get("predicted_ms")
    if count:
        found["tokens"] = float(count)
        if spent:
            found["tokens_per_s"] = 1000.0 * count / spent
    if first_token_s is not None:
        found["first_token_s"] = first_token_s
    if timings.get("hit_rate") is not None:
        found["hit_rate"] = float(timings["hit_rate"])
    if timings.get("stall_ms") is not None:
        found["stall_s"] = timings["stall_ms"] / 1000.0
    if timings.get("bytes_read") is not None:
        found["bytes_read"] = float(timings["bytes_read"])
    return found


def in_words(found: Mapping[str, float]) -> str:
    """One quiet line under an answer."""
    parts = []
    if "tokens_per_s" in found:
        parts.append(tr("{n} tok/s").format(n=short(found["tokens_per_s"])))
    if "first_token_s" in found:
        parts.append(tr("first token {s} s").format(s=short(found["first_token_s"])))
    if "hit_rate" in found:
        parts.append(tr("{p} % from memory").format(p=round(100 * found["hit_rate"])))
    if found.get("stall_s", 0.0) >= 0.05:
        parts.append(tr("SSD wait {s} s").format(s=short(found["stall_s"])))
    return " · ".join(parts)


def short(value: float) -> str:
    """A figure with two digits that matter."""
    return number(value, 0 if value >= 10 else 1 if value >= 1 else 2)
