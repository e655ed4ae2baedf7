"""Figures that tables and claims speak of, each computed from the record of one run. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from engine.bench.results import ArmRecord
from engine.bench.statistics import drift

_MIB, _GIB = 1 << 20, 1 << 30
_NEIGHBOURS = 3  # tokens that are averaged: a single one takes as long as its routing wants


@dataclass(frozen=True)
class Figure:
    """A figure's heading in tables, how its values are written, and how it is computed; None: not measured."""

    title: str
    form: str
    of: Callable[[ArmRecord], float | None]


def roofline_share(record: ArmRecord) -> float | None:
    """How near decoding comes to the machine's limit: the longer of computing and reading alone, over the time taken.

    No engine can be faster than its compute with all weights in memory, nor than the drive delivers what is missed.
    """
    io = io_seconds(record)
    if record.compute_s is None or io is None or not record.decode_tok_s:
        return None
    return max(record.compute_s, io) * record.decode_tok_s


def io_seconds(record: ArmRecord) -> float | None:
    """Seconds the drive needs for the experts a token misses, at its rate measured before and after."""
    if record.missed_bytes_per_token is None or not record.drive_bytes_s:
        return None
    return record.missed_bytes_per_token / record.drive_bytes_s


def first_token_bound(record: ArmRecord) -> float | None:
    """Seconds the drive needs for the weights every token uses and the distinct experts of the prompt."""
    if record.resident_bytes is None or record.prompt_distinct_bytes is None or not record.drive_bytes_s:
        return None
    return (record.resident_bytes + record.prompt_distinct_bytes) / record.drive_bytes_s


def first_over_tenth(record: ArmRecord) -> float | None:
    """Time of the first tokens of the reply over that of those around the tenth."""
    times = record.token_s
    if len(times) < 11:
        return None
    return mean(times[:_NEIGHBOURS]) / mean(times[8 : 8 + _NEIGHBOURS])


def _second_speed(record: ArmRecord) -> float | None:
    return record.answers[1][0] if len(record.answers) == 2 else None


def _speed_drift(parts: Sequence[tuple[float, int]]) -> float | None:
    return _size_of_drift([speed for speed, _ in parts])


def _memory_drift(parts: Sequence[tuple[float, int]]) -> float | None:
    return _size_of_drift([memory for _, memory in parts])


def _size_of_drift(values: Sequence[float]) -> float | None:
    moved = drift(values[1:])  # the first part fills the cache
    return None if moved is None else abs(moved)


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value / unit


FIGURES: Mapping[str, Figure] = {
    "program_s": Figure("program start, s", ".1f", lambda r: r.program_s),
    "load_s": Figure("load, s", ".1f", lambda r: r.load_s),
    "first_token_s": Figure("first token, s", ".1f", lambda r: r.first_token_s),
    "prompt_tok_s": Figure("prompt, tok/s", ".1f", lambda r: r.prompt_tok_s),
    "decode_tok_s": Figure("decode, tok/s", ".2f", lambda r: r.decode_tok_s),
    "second_tok_s": Figure("second answer, tok/s", ".2f", _second_speed),
    "hit_rate": Figure("hits", ".1%", lambda r: r.hit_rate),
    "late_rate": Figure("on their way", ".1%", lambda r: r.late_rate),
    "read_mib": Figure("read per token, MiB", ".0f", lambda r: _scaled(r.read_bytes_per_token, _MIB)),
    "missed_mib": Figure("missed per token, MiB", ".0f", lambda r: _scaled(r.missed_bytes_per_token, _MIB)),
    "stall_ms": Figure("waited per token, ms", ".0f", lambda r: _scaled(r.stall_s_per_token, 1e-3)),
    "compute_ms": Figure("compute alone, ms", ".0f", lambda r: _scaled(r.compute_s, 1e-3)),
    "io_ms": Figure("reading alone, ms", ".0f", lambda r: _scaled(io_seconds(r), 1e-3)),
    "drive_mib_s": Figure("drive, MiB/s", ".0f", lambda r: _scaled(r.drive_bytes_s, _MIB)),
    "roofline_share": Figure("share of the roofline", ".2f", roofline_share),
    "rss_gib": Figure("peak of the process, GiB", ".2f", lambda r: _scaled(r.rss_peak_bytes, _GIB)),
    "peak_gib": Figure("peak memory, GiB", ".2f", lambda r: _scaled(r.group_peak_bytes or r.rss_peak_bytes, _GIB)),
    "limit_gib": Figure("limit, GiB", ".2f", lambda r: _scaled(r.limit_bytes, _GIB)),
    "peak_over_limit": Figure("peak memory over limit", ".2f", lambda r: _ratio(r.group_peak_bytes, r.limit_bytes)),
    "oom_kills": Figure("OOM kills", ".0f", lambda r: r.oom_kills),
    "resident_gib": Figure("always needed, GiB", ".2f", lambda r: _scaled(r.resident_bytes, _GIB)),
    "prompt_read_gib": Figure("experts read, GiB", ".2f", lambda r: _scaled(r.prompt_read_bytes, _GIB)),
    "prompt_distinct_gib": Figure("experts used, GiB", ".2f", lambda r: _scaled(r.prompt_distinct_bytes, _GIB)),
    "read_ratio": Figure(
        "read per distinct expert", ".3f", lambda r: _ratio(r.prompt_read_bytes, r.prompt_distinct_bytes)
    ),
    "bound_s": Figure("drive's bound, s", ".1f", first_token_bound),
    "first_token_over_bound": Figure(
        "first token over bound", ".2f", lambda r: _ratio(r.first_token_s, first_token_bound(r))
    ),
    "first_over_tenth": Figure("first tokens over tenth", ".2f", first_over_tenth),
    "speed_drift": Figure("drift of speed", ".1%", lambda r: _speed_drift(r.answers)),
    "memory_drift": Figure("drift of memory", ".1%", lambda r: _memory_drift(r.answers)),
    "block_speed_drift": Figure("drift of speed within it", ".1%", lambda r: _speed_drift(r.blocks)),
    "block_memory_drift": Figure("drift of memory within it", ".1%", lambda r: _memory_drift(r.blocks)),
}
"""Every figure by its name."""
