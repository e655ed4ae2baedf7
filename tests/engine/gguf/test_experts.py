"""The expert index: a wrong offset or length streams another expert's bytes, and answers turn to noise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from gguf import GGUFReader

from engine.gguf import open_model
from engine.gguf.experts import expert_tensors, is_expert, layer_of
from engine.gguf.tensors import TensorInfo
from engine.gguf.types import GGML_TYPES
from tests.models import Recipe


def tensor(name: str, shape: tuple[int, ...] = (256, 64, 8), type_name: str = "Q4_K") -> TensorInfo:
    kind = next(row for row in GGML_TYPES.values() if row.name == type_name)
    total = 1
    for length in shape:
        total *= length
    return TensorInfo(name, kind, shape, 0, 4096, kind.row_bytes(total))


@pytest.mark.parametrize(
    ("name", "streamed"),
    [
        ("blk.0.ffn_gate_exps.weight", True),
        ("blk.12.ffn_up_exps.weight", True),
        ("blk.3.ffn_down_exps.weight", True),
        ("blk.3.ffn_gate_up_exps.weight", True),
        ("blk.3.ffn_down_chexps.weight", True),
        ("blk.3.ffn_down_exps.bias", False),
        ("blk.3.ffn_down_shexp.weight", False),
        ("blk.3.ffn_gate_inp.weight", False),
        ("blk.3.ffn_norm_exps.weight", False),
        ("blk.3.ffn_down.weight", False),
        ("xblk.3.ffn_down_exps.weight", False),
        ("blk.3.ffn_down_exps.weight.scale", False),
    ],
)
def test_which_tensors_are_streamed(name: str, streamed: bool) -> None:
    assert is_expert(name) is streamed


def test_experts_lie_one_after_the_other() -> None:
    (expert,) = expert_tensors([tensor("blk.7.ffn_down_exps.weight", (256, 64, 8), "MXFP4")])
    assert (expert.layer, expert.projection, expert.n_expert, expert.rows) == (7, "down", 8, 64)
    assert expert.bytes_per_expert == 256 * 64 // 32 * 17
    assert expert.offset_of(0) == 4096
    assert expert.offset_of(7) + expert.bytes_per_expert == 4096 + expert.tensor.nbytes


def test_a_single_expert_has_no_third_dimension() -> None:
    (expert,) = expert_tensors([tensor("blk.0.ffn_up_exps.weight", (256, 64))])
    assert (expert.n_expert, expert.bytes_per_expert) == (1, expert.tensor.nbytes)


def test_layers_come_in_order_of_number_not_of_text() -> None:
    names = [f"blk.{layer}.ffn_up_exps.weight" for layer in (10, 2, 0)]
    assert [expert.layer for expert in expert_tensors(map(tensor, names))] == [0, 2, 10]


def test_embeddings_belong_to_no_layer() -> None:
    assert (layer_of("token_embd.weight"), layer_of("blk.31.attn_q.weight")) == (None, 31)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe("qwen3moe", "Q4_K"),
        Recipe("gpt-oss", "MXFP4"),
        Recipe("deepseek2-fused", "IQ4_XS"),
        Recipe("mixtral", "Q8_0", parts=2),
    ],
    ids=lambda recipe: recipe.name,
)
def test_the_bytes_of_an_expert_are_those_the_gguf_package_reads(
    tiny_model: Callable[[Recipe], Path], recipe: Recipe
) -> None:
    files = open_model(tiny_model(recipe))
    readers = [GGUFReader(path) for path in files.paths]
    assert files.experts()
    for expert in files.experts():
        reader = readers[expert.tensor.file]
        theirs = next(t for t in reader.tensors if t.name == expert.tensor.name)
        last = expert.n_expert - 1
        with files.paths[expert.tensor.file].open("rb") as file:
            file.seek(expert.offset_of(last))
            assert file.read(expert.bytes_per_expert) == theirs.data[last].tobytes()
