"""Models to measure, and a machine that is simulated."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

# See tests/engine/conftest.py: before anything imports llama_cpp.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from autotune.facts import ExpertShape, ModelFacts, ReadRange
from tests.models import Recipe, build


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Recipe], Path]:
    """Builds the model of a recipe, or finds it built."""
    folder = tmp_path_factory.mktemp("tiny-models")
    return lambda recipe: build(folder, recipe)


@pytest.fixture
def big_facts() -> ModelFacts:
    """A model of the shapes of Qwen3-30B-A3B at Q4_K: 17 GB, 48 layers, 128 experts, top-8."""
    expert = 3 * 884736
    return ModelFacts(
        path=Path("big.gguf"),
        paths=(Path("big.gguf"),),
        name="big",
        architecture="qwen3moe",
        n_layer=48,
        n_moe_layer=48,
        n_expert=128,
        n_used=8,
        context_length=32768,
        total_bytes=17130381312,
        experts_bytes=48 * 128 * expert,
        expert_bytes=expert,
        kv_bytes_per_token=98304,
        batch_bytes=150_000,
        embedding_bytes=36864000,
        shapes=(ExpertShape(12, "Q4_K", 2048, 768, 884736, 768), ExpertShape(12, "Q4_K", 768, 2048, 884736, 384)),
        ranges=tuple(ReadRange(0, 4096 * i, 884736) for i in range(64)),
    )
