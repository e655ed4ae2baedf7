"""What `gannet inspect` and the model page say of a file: wrong figures here buy the wrong model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.gguf import ModelFiles, open_model
from engine.inspection import describe, inspect_model
from engine.memory import MemoryAvailable
from engine.settings import EngineSettings
from tests.engine.gguf.header_bytes import DENSE, GgufBytes
from tests.models import Recipe

LITTLE, PLENTY = MemoryAvailable(1 << 34, 600 << 20), MemoryAvailable(1 << 34, 1 << 33)


def sentences(files: ModelFiles, available: MemoryAvailable = PLENTY, **settings: object) -> dict[str, str]:
    chosen = EngineSettings().model_copy(update=settings)
    return dict(describe(inspect_model(files, chosen, available)))


def test_the_demo_models_figures(demo_model: Path) -> None:
    facts = inspect_model(open_model(demo_model), EngineSettings(), PLENTY)
    assert (facts.n_layer, facts.n_expert_layer, facts.n_expert, facts.n_expert_used) == (8, 8, 32, 4)
    assert facts.total_bytes == demo_model.stat().st_size
    assert facts.smallest_expert_bytes == 3 * 256 * 256 // 256 * 144
    assert facts.largest_expert_bytes == 256 * 256 // 256 * (2 * 144 + 210)
    assert facts.plan.always_bytes + facts.plan.expert_bytes == sum(facts.type_bytes.values())
    assert facts.kv_bytes_per_token == 8 * 2 * (64 + 64) * 2
    assert facts.has_chat_template


def test_a_person_can_read_it(demo_model: Path) -> None:
    said = sentences(open_model(demo_model))
    assert said["Model"] == "Demo MoE (qwen3moe), 31 MiB"
    assert "a router picks 4 of 32 experts for every token" in said["Layers"]
    assert said["Experts"] == "29.1 MiB together, 108 KiB to 124 KiB each"
    assert "at worst" in said["One token"]
    assert "the whole model fits" in said["Here"]


def test_a_cache_that_holds_a_part_says_which(demo_model: Path) -> None:
    said = sentences(open_model(demo_model), cache_bytes=30_521_968 // 4)
    assert "a cache of 7.28 MiB holds 25% of the experts" in said["Here"]


def test_too_little_memory_is_said_with_its_cure(demo_model: Path) -> None:
    facts = inspect_model(open_model(demo_model), EngineSettings(), MemoryAvailable(1 << 34, 1000))
    said = describe(facts)
    assert any(label == "Here" and "holds 2% of the experts" in sentence for label, sentence in said)
    notes = [sentence for label, sentence in said if label == "Note"]
    assert len(notes) == 2
    assert "close other programs or choose a shorter context" in notes[0]
    assert "read from the drive for every token" in notes[1]


def test_only_layers_with_experts_are_counted(tiny_model: Callable[[Recipe], Path]) -> None:
    facts = inspect_model(open_model(tiny_model(Recipe("deepseek2", "Q8_0"))), EngineSettings(), PLENTY)
    assert (facts.n_layer, facts.n_expert_layer) == (4, 3)
    assert "in 3 of them a router" in dict(describe(facts))["Layers"]


def test_split_files_are_counted(tiny_model: Callable[[Recipe], Path]) -> None:
    files = open_model(tiny_model(Recipe("mixtral", "Q8_0", parts=2)))
    facts = inspect_model(files, EngineSettings(), PLENTY)
    assert len(facts.paths) == 2
    assert "in 2 files" in dict(describe(facts))["Model"]


def test_a_model_without_experts_or_template_is_described_too(tmp_path: Path) -> None:
    builder = GgufBytes(tensors=[DENSE[0]])
    builder.without_value("qwen3moe.expert_count").without_value("qwen3moe.expert_used_count")
    said = sentences(open_model(builder.write(tmp_path / "dense.gguf")))
    assert "without experts" in said["Layers"]
    assert "continues text" in said["Chat"]
    assert "Experts" not in said


@pytest.mark.parametrize("available", [LITTLE, PLENTY])
def test_json_has_every_figure(demo_model: Path, available: MemoryAvailable) -> None:
    facts = inspect_model(open_model(demo_model), EngineSettings(), available)
    data = json.loads(json.dumps(facts.to_json()))
    assert data["plan"]["token_bytes"] == facts.plan.token_bytes
    assert (data["architecture"], data["quantization"]) == ("qwen3moe", "Q4_K")
    assert data["always_bytes"] + data["expert_bytes"] == sum(data["type_bytes"].values())
    assert data["paths"] == [str(demo_model)]
