"""Presets for one model on one machine: figures that do not fit the machine would be worse than none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autotune.axes import Automatic
from autotune.facts import ModelFacts
from autotune.machine import machine_model
from autotune.presets import Tuned, presets, smaller_caches
from autotune.result import Preset
from engine.settings import EngineSettings
from tests.autotune.simulated import FAST_DRIVE

GIB = 1 << 30


@pytest.fixture
def tuned(big_facts: ModelFacts) -> Tuned:
    model = machine_model(big_facts, ((1, 0.2), (2, 0.11)), FAST_DRIVE, 2, 10e9)
    automatic = Automatic(2, 4 * GIB, 4 * GIB)
    return Tuned(EngineSettings(), {"io_threads": 4}, 5.0, 0.03, 4 * GIB, GIB, automatic, model)


def by_key(tuned: Tuned) -> dict[str, Preset]:
    return {preset.key: preset for preset in presets(tuned)}


def test_there_are_four_and_all_keep_what_was_chosen(tuned: Tuned) -> None:
    found = by_key(tuned)
    assert list(found) == ["balanced", "light", "fastest", "long_context"]
    assert all(preset.settings["io_threads"] == 4 for preset in found.values())
    for preset in found.values():
        EngineSettings.model_validate(tuned.base.model_dump() | preset.settings)


def test_balanced_is_the_measured_one_and_says_its_speed(tuned: Tuned) -> None:
    balanced = by_key(tuned)["balanced"]
    assert balanced.measured
    assert balanced.expected_tok_s == pytest.approx(5.0)
    assert "5.0 tokens a second" in balanced.summary


def test_light_takes_half_the_cache_and_is_not_promised_to_be_faster(tuned: Tuned) -> None:
    found = by_key(tuned)
    assert found["light"].settings["cache_bytes"] == 2 * GIB
    assert (found["light"].memory_bytes or 0) < (found["balanced"].memory_bytes or 0)
    assert (found["light"].expected_tok_s or 0) < (found["balanced"].expected_tok_s or 0)
    assert not found["light"].measured


def test_fastest_leaves_a_smaller_reserve(tuned: Tuned) -> None:
    found = by_key(tuned)
    assert found["fastest"].settings["headroom_bytes"] < tuned.base.headroom_bytes
    assert (found["fastest"].expected_tok_s or 0) >= (found["balanced"].expected_tok_s or 0)


def test_no_cache_is_promised_to_save_more_than_the_waiting_for_the_drive(tuned: Tuned) -> None:
    all_of_it = replace(tuned, cache_bytes=tuned.model.facts.experts_bytes - (1 << 20))
    assert (by_key(all_of_it)["fastest"].expected_tok_s or 0) <= 1 / (1 / 5.0 - 0.03) + 1e-9


def test_long_context_is_paid_for_with_at_most_half_the_cache(tuned: Tuned) -> None:
    long = by_key(tuned)["long_context"]
    context = long.settings["context_length"]
    assert tuned.base.context_length < context <= tuned.model.facts.context_length
    assert (context - tuned.base.context_length) * tuned.model.facts.kv_bytes_per_token <= tuned.cache_bytes / 2


def test_a_tiny_cache_still_gives_valid_presets(tuned: Tuned) -> None:
    found = by_key(replace(tuned, cache_bytes=64 << 20))
    assert found["light"].settings["cache_bytes"] >= tuned.model.facts.expert_bytes * tuned.model.facts.n_used
    assert found["long_context"].settings["context_length"] >= tuned.base.context_length


def test_a_model_that_is_not_streamed_has_only_the_measured_preset(tuned: Tuned) -> None:
    assert list(by_key(replace(tuned, cache_bytes=0))) == ["balanced"]


def test_a_measured_cache_replaces_the_prediction_and_says_so(tuned: Tuned) -> None:
    found = by_key(replace(tuned, measured={"light": 3.3}))
    assert found["light"].measured
    assert found["light"].expected_tok_s == 3.3
    assert "3.3 tokens a second" in found["light"].summary
    assert not found["long_context"].measured


def test_caches_to_measure_shrink_from_one_to_the_next_and_are_those_of_the_presets(tuned: Tuned) -> None:
    caches, found = smaller_caches(tuned), by_key(tuned)
    assert list(caches.values()) == sorted(caches.values(), reverse=True)
    assert caches["light"] == found["light"].settings["cache_bytes"]
    assert all(0 < n < tuned.cache_bytes for n in caches.values())


def test_with_a_given_cache_every_preset_says_its_own(tuned: Tuned) -> None:
    """A given cache would not shrink for a longer context, nor grow by a smaller reserve."""
    given = replace(tuned, base=EngineSettings(cache_bytes=2 * GIB), cache_bytes=2 * GIB)
    found = by_key(given)
    assert found["fastest"].settings["cache_bytes"] is None
    assert found["long_context"].settings["cache_bytes"] == smaller_caches(given)["long_context"]
    assert (found["fastest"].memory_bytes or 0) > (found["balanced"].memory_bytes or 0)
