"""What the dashboard shows, worked out from two snapshots of the engine's cumulative counters. Pure.

The names of the counters are those of the engine's telemetry; counters that a snapshot lacks count as 0, so that an
older or newer engine still has a dashboard.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Snapshot = Mapping[str, Any]
NAN = math.nan


@dataclass(frozen=True)
class Figure:
    """One figure of the dashboard, declared once: title and help are source texts for `tr`, `unit` for the label."""

    name: str
    title: str
    unit: str
    help: str


FIGURES: tuple[Figure, ...] = (
    Figure("tokens_per_s", "Speed", "tok/s", "Tokens written per second while an answer is being written."),
    Figure("hit_rate", "Found in memory", "%", "Experts that were already in memory when a layer needed them."),
    Figure("late_rate", "Arrived late", "%", "Experts that were on their way from the SSD when they were needed."),
    Figure("miss_rate", "Missed", "%", "Experts that had to be read from the SSD while the answer waited."),
    Figure("stall_ms", "Waiting per token", "ms", "Time each token waited for the SSD."),
    Figure("read_rate", "Read rate", "MB/s", "What is being read from the SSD; reading is all Gannet does there."),
    Figure("queue", "Read queue", "reads", "Reads asked for and not finished, needed now and read ahead."),
    Figure("prompt_per_s", "Reading the prompt", "tok/s", "Prompt tokens per second before the answer begins."),
)
"""Every time series of the page."""

PARTS: tuple[tuple[str, str, str, str], ...] = (
    ("dense", "Attention and dense", "dense_seconds", "Weights that work for every token, always in memory."),
    ("experts", "Experts", "expert_seconds", "Computing with the experts the router picked."),
    ("stall", "Waiting for the SSD", "stall_seconds", "Nothing to compute until a read arrives."),
    ("predict", "Prediction", "predict_seconds", "Guessing which experts come next, to read them early."),
    ("sample", "Sampling", "sample_seconds", "Choosing the next token."),
)
"""Where a token's time goes: key, title, counter, help."""

_COUNTERS = (
    "tokens_prompt", "tokens_decoded", "prompt_seconds", "decode_seconds", "lookups", "hits", "late_hits", "misses",
    "bytes_read", "stall_seconds", "expert_seconds", "dense_seconds", "predict_seconds", "sample_seconds",
    "prefetch_useful", "prefetch_late", "prefetch_wasted",
)  # fmt: skip


def number(snapshot: Snapshot, name: str) -> float:
    """A counter or gauge as a number; 0 when the engine does not have it."""
    value = snapshot.get(name, 0)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0


def difference(earlier: Snapshot, later: Snapshot) -> dict[str, float]:
    """How far the counters went between two snapshots. A counter that went back (a new model) counts from 0."""
    result = {}
    for name in _COUNTERS:
        before, after = number(earlier, name), number(later, name)
        result[name] = after - before if after >= before else after
    return result


def figures(earlier: Snapshot, later: Snapshot, seconds: float) -> dict[str, float]:
    """Values of FIGURES for the time between two snapshots; NaN where there was nothing to measure."""
    went = difference(earlier, later)
    lookups, decoded = went["lookups"], went["tokens_decoded"]
    return {
        "tokens_per_s": _ratio(decoded, went["decode_seconds"]),
        "hit_rate": 100 * _ratio(went["hits"], lookups),
        "late_rate": 100 * _ratio(went["late_hits"], lookups),
        "miss_rate": 100 * _ratio(went["misses"], lookups),
        "stall_ms": 1000 * _ratio(went["stall_seconds"], decoded),
        "read_rate": _ratio(went["bytes_read"], seconds) / 1e6,
        "queue": number(later, "queue_demand") + number(later, "queue_prefetch"),
        "prompt_per_s": _ratio(went["tokens_prompt"], went["prompt_seconds"]),
    }


@dataclass(frozen=True)
class TimePart:
    """One part of a token's time: milliseconds per token and share 0..1 of all parts."""

    key: str
    milliseconds: float
    share: float


def token_time(earlier: Snapshot, later: Snapshot) -> tuple[TimePart, ...]:
    """Where the time of the tokens between two snapshots went, in the order of PARTS; empty when none was written."""
    went = difference(earlier, later)
    tokens = went["tokens_decoded"]
    total = sum(went[counter] for _, _, counter, _ in PARTS)
    if tokens <= 0 or total <= 0:
        return ()
    return tuple(TimePart(key, 1000 * went[counter] / tokens, went[counter] / total) for key, _, counter, _ in PARTS)


@dataclass(frozen=True)
class MemoryPart:
    """One stretch of the memory bar: `key` is others, model, kv, cache or free."""

    key: str
    nbytes: int


def memory_parts(snapshot: Snapshot, total_bytes: int) -> tuple[MemoryPart, ...]:
    """The machine's memory from left to right; the parts add up to total_bytes. Empty while the total is unknown."""
    if total_bytes <= 0:
        return ()
    model, kv = int(number(snapshot, "resident_bytes")), int(number(snapshot, "kv_bytes"))
    cache = int(number(snapshot, "cache_bytes"))
    free = min(total_bytes, int(number(snapshot, "memory_available_bytes")))
    # cache space that is reserved and not yet filled is still free for the system, but it is spoken for
    unfilled = max(0, cache - int(number(snapshot, "cache_used_bytes")))
    free = max(0, free - unfilled)
    others = max(0, total_bytes - free - model - kv - cache)
    free = max(0, total_bytes - others - model - kv - cache)
    named = (("others", others), ("model", model), ("kv", kv), ("cache", cache), ("free", free))
    return tuple(MemoryPart(key, nbytes) for key, nbytes in named)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else NAN
