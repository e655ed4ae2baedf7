"""Checks of a whole model: each stands for something that llama.cpp only logs, or that ends the whole program in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ModelFileError
from engine.gguf import ModelFiles, open_model
from engine.gguf.architectures import is_supported
from engine.gguf.types import ValueType
from tests.engine.gguf.header_bytes import DENSE, F32, WIDTH, GgufBytes, Tensor, expert_tensors
from tests.models import Recipe
from tests.models.architectures import ARCHITECTURES

U32, STRING = ValueType.UINT32, ValueType.STRING


def opened(folder: Path, builder: GgufBytes) -> ModelFiles:
    return open_model(builder.write(folder / "model.gguf"))


def problem(folder: Path, builder: GgufBytes) -> str:
    with pytest.raises(ModelFileError) as caught:
        opened(folder, builder)
    assert str(caught.value).startswith(str(folder / "model.gguf"))
    return str(caught.value)


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_real_architectures_pass(tiny_model: Callable[[Recipe], Path], architecture: str) -> None:
    """A check that is too strict refuses models that run."""
    files = open_model(tiny_model(Recipe(architecture, "Q8_0")))
    assert files.experts()
    assert files.chat_template is not None


def test_the_demo_model_passes(demo_model: Path) -> None:
    files = open_model(demo_model)
    assert (files.n_layer, files.n_expert, files.n_expert_used, files.n_vocab) == (8, 32, 4, 2048)
    assert files.name == "Demo MoE"


@pytest.mark.parametrize(
    ("key", "kind", "value", "says"),
    [
        ("general.type", STRING, "mmproj", "sees pictures"),
        ("general.type", STRING, "adapter", "LoRA"),
        ("general.type", STRING, "imatrix", "importance data"),
        ("general.architecture", STRING, "clip", "sees pictures"),
        ("general.architecture", STRING, "controlvector", "control vector"),
        ("general.architecture", STRING, "", "general.architecture is missing"),
        ("general.architecture", U32, 5, "general.architecture is missing"),
        ("general.architecture", STRING, "qwen99moe", "architecture qwen99moe is not one"),
        ("general.architecture", STRING, "two\nlines", "architecture two\\nlines is not one"),
        ("qwen3moe.block_count", U32, 0, "block_count is 0"),
        ("qwen3moe.block_count", U32, 513, "block_count is 513"),
        ("qwen3moe.embedding_length", U32, 0, "embedding_length"),
        ("qwen3moe.nextn_predict_layers", U32, 2, "nextn_predict_layers"),
        ("qwen3moe.expert_count", U32, 5, "holds 4 experts and the metadata says 5"),
        ("qwen3moe.expert_count", U32, 4096, "not 0 to 1024"),
        ("qwen3moe.expert_count", STRING, "4", "2 experts of 0"),
        ("qwen3moe.expert_used_count", U32, 5, "5 experts of 4"),
        ("qwen3moe.expert_used_count", U32, 0, "0 experts of 4"),
        ("qwen3moe.expert_used_count", U32, [2, 9], "9 experts of 4"),
        ("qwen3moe.expert_used_count", ValueType.INT32, [2, -1], "not 0 to 1024"),
        ("qwen3moe.expert_group_count", U32, 3, "4 experts in 3 groups"),
        ("qwen3moe.expert_group_count", U32, 4, "4 experts in 4 groups"),
        ("tokenizer.ggml.model", STRING, "", "tokenizer is missing"),
        ("tokenizer.ggml.tokens", U32, [1, 2, 3], "vocabulary is missing"),
        ("tokenizer.ggml.tokens", STRING, "abc", "vocabulary is missing"),
        ("tokenizer.ggml.scores", ValueType.FLOAT32, [0.5], "scores is shorter"),
        ("tokenizer.ggml.tokens", STRING, ["a", "b", "", "", "b"], "token 'b' is in the vocabulary twice"),
        ("tokenizer.ggml.tokens", STRING, [*map(str, range(2000)), "5"], "token '5' is in the vocabulary twice"),
        ("qwen3moe.expert_gating_func", U32, 5, "expert_gating_func is 5"),
        ("qwen3moe.rope.scaling.type", STRING, "stretched", "'stretched'"),
        ("qwen3moe.attention.layer_norm_rms_epsilon", ValueType.FLOAT32, -1.0, "must not be negative"),
        ("qwen3moe.attention.layer_norm_rms_epsilon", ValueType.FLOAT32, float("nan"), "must not be negative"),
        ("tokenizer.ggml.token_type", ValueType.INT32, [1, 1], "token_type is shorter"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, key: str, kind: ValueType, value: Any, says: str) -> None:
    assert says in problem(tmp_path, GgufBytes().with_value(key, kind, value))


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("general.architecture", "general.architecture is missing"),
        ("tokenizer.ggml.model", "tokenizer is missing"),
        ("tokenizer.ggml.tokens", "vocabulary is missing"),
        ("qwen3moe.block_count", "block_count is 0"),
        ("qwen3moe.expert_count", "2 experts of 0"),
    ],
)
def test_a_missing_value_is_named(tmp_path: Path, key: str, says: str) -> None:
    assert says in problem(tmp_path, GgufBytes().without_value(key))


def test_a_vocabulary_without_weights_is_named(tmp_path: Path) -> None:
    assert "no weights" in problem(tmp_path, GgufBytes(tensors=[]))


def test_expert_tensors_that_disagree_are_named(tmp_path: Path) -> None:
    tensors = [*DENSE, *expert_tensors(n_expert=4)[:2], *expert_tensors(n_expert=3)[2:]]
    message = problem(tmp_path, GgufBytes(tensors=tensors))
    assert "blk.0.ffn_down_exps.weight holds 3 experts" in message


def test_expert_tensors_of_one_dimension_are_named(tmp_path: Path) -> None:
    tensors = [*DENSE, Tensor("blk.0.ffn_up_exps.weight", (WIDTH,), F32)]
    assert "1 dimensions" in problem(tmp_path, GgufBytes(tensors=tensors))


@pytest.mark.parametrize(
    ("key", "value"),
    [("rope.dimension_count", 192), ("attention.key_length", 575), ("attention.head_count_kv", 17)],
)
def test_latent_attention_must_fit_together(tmp_path: Path, key: str, value: int) -> None:
    """DeepSeek's attention: llama.cpp aborts in the graph where these numbers disagree."""
    good = {"rope.dimension_count": 64, "attention.kv_lora_rank": 512, "attention.key_length": 576}
    good |= {"attention.key_length_mla": 192, "attention.value_length_mla": 128, "attention.head_count_kv": 1}
    builder = GgufBytes()
    for name, number in good.items():
        builder.with_value(f"qwen3moe.{name}", U32, number)
    assert opened(tmp_path, builder)
    assert "one latent key" in problem(tmp_path, builder.with_value(f"qwen3moe.{key}", U32, value))


def test_halves_of_characters_are_different_tokens(tmp_path: Path) -> None:
    """Byte-level vocabularies have them; read as text they would look alike."""
    assert opened(tmp_path, GgufBytes().with_value("tokenizer.ggml.tokens", STRING, [b"\xe4", b"\xe5", b"", b""]))


def test_grouped_experts_pass(tmp_path: Path) -> None:
    builder = GgufBytes().with_value("qwen3moe.expert_group_count", U32, 2)
    assert opened(tmp_path, builder.with_value("qwen3moe.expert_group_used_count", U32, 1)).n_expert == 4


def test_a_model_without_experts_passes(tmp_path: Path) -> None:
    builder = GgufBytes(tensors=[DENSE[0]])
    builder.without_value("qwen3moe.expert_count").without_value("qwen3moe.expert_used_count")
    assert opened(tmp_path, builder).experts() == ()


def test_a_model_without_a_name_takes_its_files(tmp_path: Path) -> None:
    files = opened(tmp_path, GgufBytes().without_value("general.name"))
    assert files.name == "model"


def test_layers_that_only_predict_do_not_count(tmp_path: Path) -> None:
    """Their experts are never loaded: counted, they would take room in the cache and make sizes wrong."""
    tensors = [*DENSE, *expert_tensors(0), *expert_tensors(1)]
    builder = GgufBytes(tensors=tensors).with_value("qwen3moe.block_count", U32, 2)
    files = opened(tmp_path, builder.with_value("qwen3moe.nextn_predict_layers", U32, 1))
    assert files.n_layer == 1
    assert [files.is_loaded(tensor) for tensor in files.tensors] == [True] * 5 + [False] * 3


def test_architectures_come_from_the_installed_library() -> None:
    assert all(is_supported(name) for name in ("llama", "qwen3moe", "deepseek2", "gpt-oss", "glm4moe", "bert"))
    assert not is_supported("qwen99moe")
