"""What a loaded model counts: one frozen snapshot, cumulative since the load; units are in the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Telemetry:
    """Counters since the load, then gauges of this moment. The only declaration of a counter."""

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
    cache_bytes: int = 0
    cache_used_bytes: int = 0
    resident_bytes: int = 0
    kv_bytes: int = 0
    queue_demand: int = 0
    queue_prefetch: int = 0
    process_rss_bytes: int = 0
    memory_available_bytes: int = 0


@dataclass(frozen=True)
class ExpertMap:
    """Per layer and expert: uses since the load, whether it is in memory, and the token of its last use."""

    uses: tuple[tuple[int, ...], ...] = ()
    resident: tuple[tuple[bool, ...], ...] = ()
    last_use: tuple[tuple[int, ...], ...] = ()
