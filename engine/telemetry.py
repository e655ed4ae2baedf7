"""What a loaded model counts: one frozen snapshot, cumulative since the load; units are in the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import psutil

from engine.elastic import CacheState
from engine.memory import memory_available

if TYPE_CHECKING:
    from engine.streaming import Streamer


@dataclass(frozen=True)
class Telemetry:
    """Counters since the load, then gauges of this moment. The only declaration of a counter.

    `dense_seconds`, `expert_seconds`, `stall_seconds` and `predict_seconds` are parts of the time in graphs: together
    they are all of it. `cache_bytes` is what the expert cache may hold now, `cache_most_bytes` what it may ever be;
    `cache_shrinks` and `cache_grows` count how often it followed memory, `cache_reason` says why it has its size
    (`engine.elastic.Reason`). `lookahead_gain` is how many times as fast tokens were with lookahead as without when
    that was last tried; 0: never.
    """

    tokens_prompt: int = 0
    tokens_decoded: int = 0
    prompt_seconds: float = 0.0
    decode_seconds: float = 0.0
    lookups: int = 0
    hits: int = 0
    late_hits: int = 0
    misses: int = 0
    bytes_read: int = 0
    reads: int = 0
    read_seconds: float = 0.0
    stall_seconds: float = 0.0
    expert_seconds: float = 0.0
    dense_seconds: float = 0.0
    predict_seconds: float = 0.0
    sample_seconds: float = 0.0
    prefetch_issued: int = 0
    prefetch_useful: int = 0
    prefetch_late: int = 0
    prefetch_wasted: int = 0
    prefetch_cancelled: int = 0
    evictions: int = 0
    waves: int = 0
    recall: Mapping[int, float] = field(default_factory=dict)
    lookahead_gain: float = 0.0
    cache_bytes: int = 0
    cache_used_bytes: int = 0
    cache_most_bytes: int = 0
    cache_shrinks: int = 0
    cache_grows: int = 0
    cache_reason: str = ""
    resident_bytes: int = 0
    kv_bytes: int = 0
    queue_demand: int = 0
    queue_prefetch: int = 0
    process_rss_bytes: int = 0
    memory_available_bytes: int = 0


@dataclass(frozen=True)
class ExpertMap:
    """Per layer and expert: uses since the load, whether it is in memory, and the token of its last use.

    Tokens are counted from 1 since the load, those of prompts included; -1: never used.
    """

    uses: tuple[tuple[int, ...], ...] = ()
    resident: tuple[tuple[bool, ...], ...] = ()
    last_use: tuple[tuple[int, ...], ...] = ()


_FIELDS = {f.name for f in fields(Telemetry)}
# Native counters of time, in nanoseconds, by the field they become.
_TIMES = {"read_seconds": "read_ns", "stall_seconds": "stall_ns", "predict_seconds": "predict_ns"}


def plain_snapshot(answers: Telemetry) -> Telemetry:
    """The gauges of a model that is in memory as a whole, added to what the answers counted."""
    return replace(
        answers,
        process_rss_bytes=psutil.Process().memory_info().rss,
        memory_available_bytes=memory_available().available_bytes,
    )


def snapshot(streamer: Streamer, answers: Telemetry, cache: CacheState | None) -> Telemetry:
    """The streamer's counters and gauges, with the token counts and times that only answers know."""
    cache = cache or CacheState(streamer.native.cache_bytes)
    native = streamer.native
    counted = native.counters()
    values: dict[str, Any] = {
        name: value for name, value in counted.items() if name in _FIELDS and not name.startswith("tokens_")
    }
    seconds: dict[str, Any] = {name: counted[source] / 1e9 for name, source in _TIMES.items()}
    dense = max(0, counted["compute_ns"] - counted["expert_ns"] - counted["predict_ns"]) / 1e9
    experts = max(0, counted["expert_ns"] - counted["stall_ns"]) / 1e9  # the core counts their stalls with them
    return replace(
        answers,
        **values,
        **seconds,
        dense_seconds=dense,
        expert_seconds=experts,
        recall=native.recall(),
        cache_bytes=native.cache_bytes,
        cache_used_bytes=native.used_bytes,
        cache_most_bytes=cache.most_bytes,
        cache_shrinks=cache.shrinks,
        cache_grows=cache.grows,
        cache_reason=cache.reason,
        resident_bytes=native.resident_progress()[0],
        queue_demand=native.queued_demand,
        queue_prefetch=native.queued_prefetch,
        process_rss_bytes=psutil.Process().memory_info().rss,
        memory_available_bytes=memory_available().available_bytes,
    )


def expert_map(streamer: Streamer) -> ExpertMap:
    """Uses and residency of every streamed expert, by layer in the order they run."""
    uses, last = streamer.native.uses(), streamer.native.last_uses()
    resident = streamer.native.resident_experts()
    rows = streamer.expert_rows()
    return ExpertMap(
        uses=tuple(tuple(uses[first : first + n]) for _, first, n in rows),
        resident=tuple(tuple(bool(r) for r in resident[first : first + n]) for _, first, n in rows),
        last_use=tuple(tuple(token or -1 for token in last[first : first + n]) for _, first, n in rows),
    )
