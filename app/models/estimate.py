"""What to expect of a model on this machine: memory, hit rate, words per second, and one plain word.

Pure policy, no I/O. Where the tuner has measured this model here, its figures are used. Otherwise the figures come
from a stated model of one token:

* compute time = bytes of weights that work for a token / rate at which memory can be read by the kernels;
* read time = bytes of selected experts that are not in the cache / rate of the drive for reads of that size;
* the two overlap completely (fast end of the range) or not at all (slow end);
* the hit rate follows the share of the experts that fits in the cache. The curve for a finely divided model was
  measured: 12 % of the experts in memory serve 45-53 % of the look-ups, 25 % serve 76-78 %, 50 % serve 95 %; with
  reading ahead 24 % served 90 % in time, which is the high curve. Models with few, large experts are routed more
  evenly; they are taken between these curves and "share in memory = hit rate".
"""

from __future__ import annotations

import enum
import itertools
import math
from dataclasses import dataclass

from app.models.shape import ModelShape

GIB = 1 << 30
HEADROOM_BYTES = GIB // 2
"""Left free for the rest of the machine, as the engine does when it sizes its cache."""
COMPUTE_BUFFER_BYTES = 400 << 20
WORDS_PER_TOKEN = 0.75

_HIT_LOW = ((0.0, 0.0), (0.12, 0.40), (0.25, 0.66), (0.5, 0.88), (1.0, 1.0))
_HIT_HIGH = ((0.0, 0.05), (0.12, 0.60), (0.25, 0.90), (0.5, 0.97), (1.0, 1.0))


class Speed(enum.Enum):
    """The plain word; the value is the least tokens per second that earns it."""

    FAST = 8.0
    USABLE = 2.5
    SLOW = 0.7
    TOO_SLOW = 0.0


@dataclass(frozen=True)
class Range:
    """A low and a high end of one figure."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Geometric mean: speeds are compared by ratio."""
        return math.sqrt(max(self.low, 1e-9) * max(self.high, 1e-9))


@dataclass(frozen=True)
class Machine:
    """What the estimate needs to know of this machine.

    Attributes:
        total_bytes, available_bytes: memory of the machine (a container's limit included) and what is free of it.
        drive_rate: bytes/s of the model's drive for reads as large as an expert.
        memory_rate: bytes/s of weights the kernels get through from memory.
        measured: whether the rates were measured here or are what such machines usually do.
    """

    total_bytes: int
    available_bytes: int
    drive_rate: Range = Range(1.2e9, 3.5e9)
    memory_rate: Range = Range(8e9, 25e9)
    measured: bool = False


@dataclass(frozen=True)
class Measurement:
    """One run of this very model on this machine, from the tuner.

    Attributes: cache_bytes used, tokens_per_s and hit_rate (0..1) measured with it.
    """

    cache_bytes: int
    tokens_per_s: float
    hit_rate: float


@dataclass(frozen=True)
class Estimate:
    """The answer shown beside a model. Sizes in bytes, rates in tokens/s, hit rate 0..1 (1 for a dense model).

    Attributes:
        memory_bytes: what the model will occupy here, cache included.
        minimum_bytes: below this even the always-used weights do not fit.
        cache_bytes: the part of it that holds experts.
        fits: whether minimum_bytes are free at this moment.
        measured: whether the speeds were measured on this machine with this model.
    """

    memory_bytes: int
    minimum_bytes: int
    cache_bytes: int
    hit_rate: Range
    tokens_per_s: Range
    speed: Speed
    fits: bool
    measured: bool

    @property
    def words_per_s(self) -> Range:
        """Speed in words, the unit a reader knows."""
        return Range(self.tokens_per_s.low * WORDS_PER_TOKEN, self.tokens_per_s.high * WORDS_PER_TOKEN)


def speed_word(tokens_per_s: float) -> Speed:
    """The plain word for a speed in tokens/s."""
    return next(speed for speed in Speed if tokens_per_s >= speed.value)


def hit_rate_at(shape: ModelShape, cache_bytes: int) -> Range:
    """Expected share of expert look-ups that a cache of this size serves from memory."""
    if not shape.is_moe:
        return Range(1.0, 1.0)
    share = min(1.0, max(0, cache_bytes) / shape.expert_bytes)
    fineness = min(1.0, math.log2(max(1.0, shape.n_expert / max(1, shape.n_expert_used))) / 4)
    low = fineness * _interpolate(_HIT_LOW, share) + (1 - fineness) * share
    high = fineness * _interpolate(_HIT_HIGH, share) + (1 - fineness) * share
    return Range(low, high)


def estimate(
    shape: ModelShape, machine: Machine, context_length: int = 4096, measurement: Measurement | None = None
) -> Estimate:
    """What this model will do here with this context length (tokens). Never refuses: slow is an answer too."""
    context = min(context_length, shape.context_length or context_length)
    minimum = shape.always_bytes + context * shape.kv_bytes_per_token + COMPUTE_BUFFER_BYTES
    free_for_cache = machine.available_bytes - HEADROOM_BYTES - minimum
    least_cache = shape.active_expert_bytes // 4
    cache = min(shape.expert_bytes, max(free_for_cache, least_cache))
    hits, rates = hit_rate_at(shape, cache), _rates(shape, machine, cache, free_for_cache)
    if measurement is not None:
        hits, rates = _from_measurement(shape, machine, cache, measurement)
    return Estimate(
        memory_bytes=minimum + cache,
        minimum_bytes=minimum + least_cache,
        cache_bytes=cache,
        hit_rate=hits,
        tokens_per_s=rates,
        speed=speed_word(rates.middle),
        fits=minimum + least_cache <= machine.available_bytes,
        measured=measurement is not None,
    )


def _rates(shape: ModelShape, machine: Machine, cache: int, free_for_cache: int) -> Range:
    hits = hit_rate_at(shape, cache)
    working = shape.always_bytes + shape.active_expert_bytes
    # always-used weights that do not fit are read again for every token
    overflow = min(shape.always_bytes, max(0, -free_for_cache))
    read_most = (1 - hits.low) * shape.active_expert_bytes + overflow
    read_least = (1 - hits.high) * shape.active_expert_bytes + overflow
    slowest = working / machine.memory_rate.low + read_most / machine.drive_rate.low
    fastest = max(working / machine.memory_rate.high, read_least / machine.drive_rate.high)
    return Range(1 / slowest, 1 / fastest)


def _from_measurement(shape: ModelShape, machine: Machine, cache: int, measured: Measurement) -> tuple[Range, Range]:
    """Carry a measured run over to another cache size: the same run, scaled by what the model says changes."""
    then, now = hit_rate_at(shape, measured.cache_bytes), hit_rate_at(shape, cache)
    misses_then, misses_now = max(1e-3, 1 - then.middle), 1 - min(1.0, now.middle)
    miss = min(1.0, (1 - measured.hit_rate) * misses_now / misses_then)
    token_s = 1 / measured.tokens_per_s
    drive = machine.drive_rate.middle
    change = (miss - (1 - measured.hit_rate)) * shape.active_expert_bytes / drive
    likely = 1 / max(token_s + change, token_s / 3)
    return Range(max(0.0, 0.97 - miss), min(1.0, 1.03 - miss)), Range(likely * 0.85, likely * 1.15)


def _interpolate(points: tuple[tuple[float, float], ...], x: float) -> float:
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]
