"""What is worth measuring: a missing arm is speed nobody finds, a silly one is a user's time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autotune.axes import LIVE, RELOADED, Automatic, Sight, name_of, values
from autotune.candidates import Candidate, candidates, operating, reloaded
from autotune.facts import ModelFacts
from autotune.machine import machine_model
from autotune.probes.gpu import GpuDevice
from autotune.result import DrivePoint
from engine.settings import EngineSettings
from tests.autotune.simulated import FAST_DRIVE, SLOW_DRIVE

GIB = 1 << 30
BAD = EngineSettings(io_threads=1, lookahead=0, threads=1)


def sight(
    facts: ModelFacts,
    base: EngineSettings,
    drive: tuple[DrivePoint, ...] = FAST_DRIVE,
    compute: tuple[tuple[int, float], ...] = ((1, 0.2), (2, 0.11)),
    automatic_cache: int = 4 * GIB,
    prompt_tokens: int = 0,
    devices: tuple[GpuDevice, ...] = (),
) -> Sight:
    """A simulated machine with a cache of 4 GiB in effect unless the settings give one."""
    threads = compute[-1][0]
    automatic = Automatic(threads, automatic_cache, base.cache_bytes or automatic_cache)
    return Sight(machine_model(facts, compute, drive, threads, None), base, automatic, prompt_tokens, devices)


def chosen(
    facts: ModelFacts,
    base: EngineSettings,
    drive: tuple[DrivePoint, ...] = FAST_DRIVE,
    compute: tuple[tuple[int, float], ...] = ((1, 0.2), (2, 0.11)),
    limit: int = 8,
) -> tuple[Candidate, ...]:
    return candidates(sight(facts, base, drive, compute), limit=limit)


@pytest.mark.parametrize("base", [EngineSettings(), BAD])
@pytest.mark.parametrize("limit", [1, 2, 3, 8])
def test_the_defaults_come_first_and_the_limit_holds(big_facts: ModelFacts, base: EngineSettings, limit: int) -> None:
    found = chosen(big_facts, base, limit=limit)
    assert found[0].changes == {}
    assert len(found) == limit
    assert len({c.name for c in found}) == limit


def test_with_bad_settings_the_programs_own_are_the_first_challenger(big_facts: ModelFacts) -> None:
    assert chosen(big_facts, BAD, limit=2)[1].changes == {
        "threads": None,
        "io_threads": 8,
        "lookahead": EngineSettings().lookahead,
    }


def test_on_a_busy_machine_where_two_threads_crawl_they_are_not_tried(big_facts: ModelFacts) -> None:
    found = chosen(big_facts, EngineSettings(threads=1), compute=((1, 0.2), (2, 9.0)))
    assert all(c.changes.get("threads", 1) == 1 for c in found)


def test_every_arm_makes_valid_settings(big_facts: ModelFacts) -> None:
    for candidate in chosen(big_facts, BAD):
        EngineSettings.model_validate(BAD.model_dump() | dict(candidate.changes))


@pytest.mark.parametrize("drive", [FAST_DRIVE, SLOW_DRIVE])
def test_whether_reading_early_pays_at_all_is_always_tried(
    big_facts: ModelFacts, drive: tuple[DrivePoint, ...]
) -> None:
    assert chosen(big_facts, EngineSettings(), drive, limit=2)[1].changes == {"lookahead": 0}
    assert chosen(big_facts, BAD, drive, limit=3)[2].changes == {"threads": None, "io_threads": 8}


def test_how_to_read_early_is_not_tried_where_nothing_is_read_early(big_facts: ModelFacts) -> None:
    found = chosen(big_facts, EngineSettings(lookahead=0), limit=30)
    assert not {name for c in found for name in c.changes} & {"prefetch_bar", "prefetch_depth", "lookahead_width"}


def test_few_arms_still_have_a_step_of_every_setting_that_may_matter(big_facts: ModelFacts) -> None:
    found = chosen(big_facts, EngineSettings(), limit=8)
    steps = {name for c in found if len(c.changes) == 1 for name in c.changes}
    assert steps >= {"io_threads", "lookahead", "prefetch_bar", "prefetch_depth"}


def test_one_core_is_offered_one_thread(big_facts: ModelFacts) -> None:
    found = chosen(big_facts, EngineSettings(), compute=((1, 0.2),))
    assert all(c.changes.get("threads") in (None, 1) for c in found)


def test_an_arm_is_named_in_words() -> None:
    assert name_of({}) == "defaults"
    assert name_of({"lookahead": 2, "io_threads": 1, "threads": None}) == (
        "automatic compute threads, 1 read thread, lookahead 2"
    )
    assert name_of({"cache_bytes": None, "ubatch": 512}) == "automatic cache, prompt batch 512"


def test_a_cache_made_small_on_purpose_is_met_by_the_automatic_one(big_facts: ModelFacts) -> None:
    small = EngineSettings(cache_bytes=GIB)
    found = candidates(sight(big_facts, small, automatic_cache=6 * GIB), limit=8)
    assert any(c.changes == {"cache_bytes": None} for c in found)
    assert max(found, key=lambda c: c.expected_tok_s).changes.get("cache_bytes", GIB) is None
    assert operating(small, {"cache_bytes": None}, Automatic(2, 6 * GIB, GIB)).cache_bytes == 6 * GIB


def test_an_automatic_cache_and_one_that_is_nearly_as_large_are_left_alone(big_facts: ModelFacts) -> None:
    for base in (EngineSettings(), EngineSettings(cache_bytes=4 * GIB)):
        found = candidates(sight(big_facts, base, automatic_cache=4 * GIB + (64 << 20)), limit=8)
        assert all("cache_bytes" not in c.changes for c in found)


def test_small_prompt_batches_are_met_by_one_that_takes_the_prompt_at_once(big_facts: ModelFacts) -> None:
    tiny = EngineSettings(ubatch=32, cache_bytes=4 * GIB)
    (found,) = reloaded(sight(big_facts, tiny, prompt_tokens=256), {}, limit=1)
    assert found.changes == {"ubatch": 2048}  # the program's own among those that take such a prompt at once


def test_good_prompt_batches_cost_no_time_to_measure(big_facts: ModelFacts) -> None:
    for base in (EngineSettings(), EngineSettings(cache_bytes=4 * GIB)):
        assert reloaded(sight(big_facts, base, prompt_tokens=512), {}, limit=2) == ()


def test_where_memory_is_short_a_smaller_batch_that_leaves_more_to_the_experts_is_tried(big_facts: ModelFacts) -> None:
    base = EngineSettings(ubatch=8192)
    found = reloaded(sight(big_facts, base, automatic_cache=GIB, prompt_tokens=1024), {}, limit=2)
    assert any(c.changes["ubatch"] < base.ubatch for c in found)
    assert not reloaded(sight(big_facts, base, automatic_cache=16 * GIB, prompt_tokens=1024), {}, limit=2)


def test_a_smaller_batch_is_not_judged_by_a_prompt_that_fits_into_it(big_facts: ModelFacts) -> None:
    found = reloaded(sight(big_facts, EngineSettings(), automatic_cache=GIB // 4, prompt_tokens=200), {}, limit=3)
    assert all(2 * c.changes["ubatch"] <= 200 for c in found)


def test_a_model_that_fits_whole_is_tried_streamed_with_room_for_every_expert(big_facts: ModelFacts) -> None:
    whole = replace(sight(big_facts, EngineSettings(), automatic_cache=big_facts.experts_bytes), streaming=False)
    assert {name for c in candidates(whole, limit=8) for name in c.changes} <= {"threads"}
    (found,) = reloaded(replace(whole, prompt_tokens=256), {}, limit=1)
    assert found.changes == {"cache_bytes": big_facts.experts_bytes}


CARD = GpuDevice("gpu0", "simulated", False, 8 * GIB, 8 * GIB, 12e9, 10e9, 8e9)
DECLARED = ("threads", "gpu_layers", "vram_cache_bytes")


def test_no_graphics_card_is_no_candidate(big_facts: ModelFacts) -> None:
    assert set(values((*LIVE, *RELOADED), sight(big_facts, EngineSettings()), DECLARED)) == {"threads"}


def test_layers_and_experts_on_a_graphics_card_fit_into_its_memory(big_facts: ModelFacts) -> None:
    for free in (1, 4, 8, 80):
        card = replace(CARD, free_bytes=free * GIB)
        found = values(RELOADED, sight(big_facts, EngineSettings(), devices=(card,)), DECLARED)
        layer = big_facts.dense_bytes / big_facts.n_layer + big_facts.kv_bytes_per_token * 4096
        assert max(found["gpu_layers"]) <= big_facts.n_layer
        assert max(found["gpu_layers"]) * layer <= free * GIB
        assert max(found["vram_cache_bytes"]) <= min(big_facts.experts_bytes, free * GIB)
        assert min(found["gpu_layers"]) == min(found["vram_cache_bytes"]) == 0
    assert max(found["gpu_layers"]) == big_facts.n_layer


def test_only_settings_that_the_engine_has_are_proposed(big_facts: ModelFacts) -> None:
    found = values((*LIVE, *RELOADED), sight(big_facts, EngineSettings(), devices=(CARD,)))
    assert set(found) <= set(EngineSettings.model_fields)
