"""How memory is divided: a wrong sum here is swapping, a killed program, or a cache far smaller than it could be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.gguf import ModelFiles, open_model
from engine.gguf.types import ValueType
from engine.memory import MemoryAvailable, MemoryPlan, plan_memory
from engine.memory.plan import compute_bytes, working_sets
from engine.settings import EngineSettings
from tests.engine.gguf.header_bytes import DENSE, GgufBytes, expert_tensors
from tests.models import Recipe

SETTINGS = EngineSettings(headroom_bytes=1000, context_length=256, ubatch=1)
PLENTY = 1 << 40


def model(folder: Path, layers: int = 4) -> ModelFiles:
    """Experts of 36,864 bytes a projection, 4 in each layer, 2 used."""
    tensors = [*DENSE, *(tensor for layer in range(layers) for tensor in expert_tensors(layer))]
    builder = GgufBytes(tensors=tensors).with_value("qwen3moe.block_count", ValueType.UINT32, layers)
    return open_model(builder.write(folder / "model.gguf"))


def planned(files: ModelFiles, available: int, **settings: object) -> MemoryPlan:
    return plan_memory(files, SETTINGS.model_copy(update=settings), MemoryAvailable(PLENTY, available))


def test_what_is_left_is_the_cache(tmp_path: Path) -> None:
    files = model(tmp_path)
    fixed = planned(files, PLENTY).fixed_bytes
    plan = planned(files, fixed + 1_000_000)
    assert plan.cache_bytes == 1_000_000
    assert plan.streaming
    assert plan.notes == ()
    assert plan.always_bytes == 256 * 3 * 2 + 256 * 4 * 4
    assert plan.expert_bytes == 4 * 3 * 4 * 36_864
    assert plan.cached_share == pytest.approx(1_000_000 / plan.expert_bytes)


def test_the_working_sets_are_what_a_token_uses(tmp_path: Path) -> None:
    assert working_sets(model(tmp_path)) == (2 * 3 * 36_864, 4 * 2 * 3 * 36_864)


def test_a_model_that_fits_runs_plain(tmp_path: Path) -> None:
    files = model(tmp_path)
    fixed, experts = planned(files, PLENTY).fixed_bytes, planned(files, PLENTY).expert_bytes
    assert not planned(files, fixed + experts).streaming
    assert planned(files, fixed + experts - 1).streaming


def test_a_given_cache_streams_even_what_fits(tmp_path: Path) -> None:
    plan = planned(model(tmp_path), PLENTY, cache_bytes=500_000)
    assert (plan.cache_bytes, plan.streaming) == (500_000, True)


def test_plain_is_obeyed(tmp_path: Path) -> None:
    assert not planned(model(tmp_path), PLENTY, plain=True, cache_bytes=500_000).streaming


def test_no_memory_is_no_refusal(tmp_path: Path) -> None:
    """Too little memory means slower, with a line that says so; never an error."""
    plan = planned(model(tmp_path), 0)
    assert plan.cache_bytes == plan.layer_bytes
    assert any("close other programs" in note for note in plan.notes)
    assert any("smaller than what one token uses" in note for note in plan.notes)
    assert all("\n" not in note for note in plan.notes)


def test_a_cache_below_one_layer_is_raised_and_said(tmp_path: Path) -> None:
    plan = planned(model(tmp_path), PLENTY, cache_bytes=1)
    assert plan.cache_bytes == plan.layer_bytes
    assert any("raised" in note for note in plan.notes)


def test_a_cache_is_never_larger_than_all_experts(tmp_path: Path) -> None:
    plan = planned(model(tmp_path), PLENTY, cache_bytes=PLENTY)
    assert plan.cache_bytes == plan.expert_bytes


def test_a_model_without_experts_is_plain_even_if_it_does_not_fit(tmp_path: Path) -> None:
    builder = GgufBytes(tensors=[DENSE[0]])
    builder.without_value("qwen3moe.expert_count").without_value("qwen3moe.expert_used_count")
    plan = planned(open_model(builder.write(tmp_path / "dense.gguf")), 0)
    assert not plan.streaming
    assert plan.notes


def test_a_limit_is_named_in_the_note(tmp_path: Path) -> None:
    plan = plan_memory(model(tmp_path), SETTINGS, MemoryAvailable(PLENTY, 0, 2 << 30, "limit of /g"))
    assert "within the limit of 2 GiB" in plan.notes[0]


def test_layers_may_use_different_numbers_of_experts(tmp_path: Path) -> None:
    builder = GgufBytes(tensors=[*DENSE, *expert_tensors(0), *expert_tensors(1)])
    builder.with_value("qwen3moe.block_count", ValueType.UINT32, 2)
    builder.with_value("qwen3moe.expert_used_count", ValueType.UINT32, [1, 3])
    files = open_model(builder.write(tmp_path / "model.gguf"))
    assert working_sets(files) == (3 * 3 * 36_864, 4 * 3 * 36_864)


def test_a_context_longer_than_the_models_is_not_paid_for(tmp_path: Path) -> None:
    files = model(tmp_path)
    assert (
        planned(files, PLENTY, context_length=1 << 20).kv_bytes == planned(files, PLENTY, context_length=512).kv_bytes
    )


def test_a_larger_batch_or_vocabulary_takes_more(tiny_model: Callable[[Recipe], Path]) -> None:
    files = open_model(tiny_model(Recipe()))
    assert compute_bytes(files, 512, 256) == 512 * compute_bytes(files, 1, 256)
    assert compute_bytes(files, 1, 4096) > compute_bytes(files, 1, 256)
    assert compute_bytes(files, 1, 4096, flash_attention=False) > compute_bytes(files, 1, 4096)
