"""The five figures of the engine panel from two snapshots of the engine's counters (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figures:
    """What the panel shows; None where there was nothing to measure.

    `tokens_per_s`; `hit_rate` 0..1; `stall_ms` per token; `memory_share` 0..1 of the machine that the engine uses;
    `read_rate` bytes/s from the SSD.
    """

    tokens_per_s: float | None = None
    hit_rate: float | None = None
    stall_ms: float | None = None
    memory_share: float | None = None
    read_rate: float | None = None


def figures_between(before: Mapping[str, Any], now: Mapping[str, Any], seconds: float) -> Figures:
    """Figures of the `seconds` between two snapshots of cumulative counters (`engine.telemetry` names them)."""
    if seconds <= 0 or not before or _delta(before, now, "tokens_decoded") < 0:
        return Figures(memory_share=_memory_share(now))
    tokens = _delta(before, now, "tokens_decoded")
    decode = _delta(before, now, "decode_seconds")
    lookups = _delta(before, now, "lookups")
    return Figures(
        tokens_per_s=tokens / decode if tokens > 0 and decode > 0 else None,
        hit_rate=_delta(before, now, "hits") / lookups if lookups > 0 else None,
        stall_ms=1000 * _delta(before, now, "stall_seconds") / tokens if tokens > 0 else None,
        memory_share=_memory_share(now),
        read_rate=_delta(before, now, "bytes_read") / seconds,
    )


def _delta(before: Mapping[str, Any], now: Mapping[str, Any], name: str) -> float:
    return float(now.get(name) or 0) - float(before.get(name) or 0)


def _memory_share(now: Mapping[str, Any]) -> float | None:
    own, free = now.get("process_rss_bytes"), now.get("memory_available_bytes")
    return own / (own + free) if own and free is not None and own + free > 0 else None
