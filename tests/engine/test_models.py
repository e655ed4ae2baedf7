"""The tiny models that other tests rely on are what they claim: they load, route widely and answer sensibly scaled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from engine.gguf import open_model
from engine.loader import load
from engine.settings import EngineSettings
from tests.models import ARCHITECTURES, Recipe
from tests.models.quantization import QUANTIZATIONS

SETTINGS = EngineSettings(plain=True, context_length=128, ubatch=64, threads=1)
TEXT = b"the quick brown fox jumps over the lazy dog"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_stock_llama_cpp_computes_finite_varied_logits(tiny_model: Callable[[Recipe], Path], architecture: str) -> None:
    files = open_model(tiny_model(Recipe(architecture, "Q8_0")))
    assert files.architecture == ARCHITECTURES[architecture].name
    with load(files, SETTINGS) as loaded:
        loaded.llama.eval(loaded.llama.tokenize(TEXT, add_bos=False))
        logits = llama_cpp.llama_get_logits_ith(loaded.llama.ctx, -1)
        row = np.ctypeslib.as_array(logits, (loaded.llama.n_vocab(),))
        assert np.isfinite(row).all()
        assert 0.1 < row.std() < 10


@pytest.mark.parametrize("quantization", QUANTIZATIONS)
def test_experts_have_the_types_a_file_of_that_kind_has(
    tiny_model: Callable[[Recipe], Path], quantization: str
) -> None:
    files = open_model(tiny_model(Recipe("qwen3moe", quantization)))
    kinds = QUANTIZATIONS[quantization]
    wanted = {kind.name for kind in (kinds.experts, kinds.down) if kind is not None}
    assert {expert.tensor.ggml_type.name for expert in files.experts()} == wanted


def test_a_split_model_has_its_experts_in_several_files(tiny_model: Callable[[Recipe], Path]) -> None:
    files = open_model(tiny_model(Recipe(parts=3)))
    assert len(files.paths) == 3
    assert {expert.tensor.file for expert in files.experts()} == {0, 1, 2}


def test_a_model_is_the_same_whenever_it_is_built(tmp_path: Path, tiny_model: Callable[[Recipe], Path]) -> None:
    from tests.models import build

    assert build(tmp_path, Recipe()).read_bytes() == tiny_model(Recipe()).read_bytes()
