"""The estimate: a person must not be told "fast" for what will crawl, nor be sent away from what would work."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from app.models.estimate import GIB, Machine, Measurement, Range, Speed, estimate, hit_rate_at, speed_word
from app.models.shape import ModelShape

QWEN30 = ModelShape(
    total_bytes=int(17.1e9), expert_bytes=int(16.0e9), n_expert=128, n_expert_used=8,
    kv_bytes_per_token=98_304, context_length=32_768,
)  # fmt: skip
MIXTRAL = ModelShape(
    total_bytes=int(26.4e9), expert_bytes=int(25.0e9), n_expert=8, n_expert_used=2,
    kv_bytes_per_token=131_072, context_length=32_768,
)  # fmt: skip
DENSE = ModelShape(int(4.7e9), 0, 0, 0, 131_072, 8192)


def machine(gib: float, **changes: object) -> Machine:
    return replace(Machine(int(24 * GIB), int(gib * GIB)), **changes)  # type: ignore[arg-type]


def test_the_yardstick_model_under_eight_gib_lands_where_it_was_measured() -> None:
    """17.1 GB file, 8 GiB, a drive of 1.6-2.1 GB/s, two cores: measured 4.6-6.0 tok/s at 90 % hits."""
    here = machine(8, drive_rate=Range(1.6e9, 2.1e9), memory_rate=Range(7e9, 12e9))
    answer = estimate(QWEN30, here)
    assert answer.tokens_per_s.low < 5.5 and answer.tokens_per_s.high > 4.6
    assert hit_rate_at(QWEN30, 4000 << 20).low <= 0.90 <= hit_rate_at(QWEN30, 4000 << 20).high + 0.005
    assert answer.speed is Speed.USABLE and answer.fits and not answer.measured
    assert answer.memory_bytes <= 8 * GIB


@pytest.mark.parametrize(("share", "published"), [(0.12, (0.45, 0.53)), (0.25, (0.76, 0.78)), (0.5, (0.95, 0.95))])
def test_the_hit_rate_range_holds_the_published_figures(share: float, published: tuple[float, float]) -> None:
    expected = hit_rate_at(QWEN30, int(QWEN30.expert_bytes * share))
    assert expected.low <= published[0] and published[1] <= expected.high + 0.001


def test_models_with_few_large_experts_are_not_promised_the_same_hits() -> None:
    share = 0.25
    coarse, fine = (hit_rate_at(shape, int(shape.expert_bytes * share)) for shape in (MIXTRAL, QWEN30))
    assert coarse.low < fine.low and coarse.high < fine.high


def test_more_memory_never_makes_it_slower() -> None:
    speeds = [estimate(QWEN30, machine(gib)).tokens_per_s for gib in (1, 2, 4, 8, 12, 20)]
    assert all(a.low <= b.low and a.high <= b.high for a, b in itertools.pairwise(speeds))


def test_far_too_little_memory_is_an_answer_not_a_refusal() -> None:
    answer = estimate(QWEN30, machine(0.5))
    assert answer.tokens_per_s.low > 0 and not answer.fits and answer.minimum_bytes > 0.5 * GIB
    assert answer.speed in (Speed.SLOW, Speed.TOO_SLOW)


def test_a_dense_model_has_no_experts_to_miss() -> None:
    answer = estimate(DENSE, machine(12))
    assert answer.hit_rate == Range(1.0, 1.0) and answer.cache_bytes == 0 and answer.fits


def test_a_longer_context_takes_memory_from_the_cache() -> None:
    short, long = estimate(QWEN30, machine(8), 4096), estimate(QWEN30, machine(8), 32_768)
    assert long.cache_bytes < short.cache_bytes and long.minimum_bytes > short.minimum_bytes


def test_what_was_measured_here_is_what_is_shown() -> None:
    plain = estimate(QWEN30, machine(8))
    run = Measurement(cache_bytes=plain.cache_bytes, tokens_per_s=5.3, hit_rate=0.91)
    answer = estimate(QWEN30, machine(8), measurement=run)
    assert answer.measured and answer.tokens_per_s.low < 5.3 < answer.tokens_per_s.high
    assert answer.hit_rate.low < 0.91 < answer.hit_rate.high
    less = estimate(QWEN30, machine(5), measurement=run)
    assert less.tokens_per_s.middle < answer.tokens_per_s.middle


def test_words_follow_the_speed() -> None:
    assert [speed_word(rate) for rate in (20, 8, 7.9, 1, 0.1, 0.0)] == [
        Speed.FAST, Speed.FAST, Speed.USABLE, Speed.SLOW, Speed.TOO_SLOW, Speed.TOO_SLOW,
    ]  # fmt: skip


def test_a_shape_with_nonsense_names_the_field() -> None:
    with pytest.raises(ValueError, match="n_expert"):
        ModelShape.from_mapping({"total_bytes": 1, "expert_bytes": 1, "n_expert": "8"})
