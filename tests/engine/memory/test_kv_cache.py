"""The conversation's memory against llama.cpp's own: too little ends in a kill, too much takes experts' room."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp
import pytest

from engine import llama_log
from engine.gguf import ModelFiles, open_model
from engine.gguf.types import ValueType
from engine.memory import kv_bytes
from engine.memory.kv_cache import kv_bytes_per_token, state_bytes
from engine.memory.plan import compute_bytes
from tests.engine.gguf.header_bytes import GgufBytes
from tests.models import Recipe
from tests.models.architectures import ARCHITECTURES

MIB = 1 << 20


def with_values(folder: Path, values: dict[str, Any], layers: int = 4) -> ModelFiles:
    builder = GgufBytes().with_value("qwen3moe.block_count", ValueType.UINT32, layers)
    for key, value in values.items():
        builder.with_value(f"qwen3moe.{key}", ValueType.UINT32, value)
    return open_model(builder.write(folder / "model.gguf"))


def llama_buffers(path: Path, n_ctx: int, ubatch: int) -> tuple[float, float]:
    """MiB that llama.cpp allocates for keys and values, and for computing."""
    with llama_log.collected() as log:
        params = llama_cpp.llama_model_default_params()
        params.use_extra_bufts = False
        model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
        context_params = llama_cpp.llama_context_default_params()
        context_params.n_ctx, context_params.n_batch, context_params.n_ubatch = n_ctx, ubatch, ubatch
        context_params.flash_attn_type = 1
        context = llama_cpp.llama_init_from_model(model, context_params)
        llama_cpp.llama_free(context)
        llama_cpp.llama_model_free(model)
    text = "\n".join(record.getMessage() for record in log)
    kv = sum(float(size) for size in re.findall(r"KV buffer size = +([\d.]+) MiB", text))
    (compute,) = re.findall(r"CPU compute buffer size = +([\d.]+) MiB", text)
    return kv, float(compute)


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_llama_cpp_allocates_what_was_planned(tiny_model: Callable[[Recipe], Path], architecture: str) -> None:
    path = tiny_model(Recipe(architecture, "Q8_0"))
    files = open_model(path)
    kv, compute = llama_buffers(path, 512, 128)
    assert kv_bytes(files, 512) / MIB == pytest.approx(kv, abs=0.01)
    planned = compute_bytes(files, 128, 512) / MIB
    assert compute * 0.95 <= planned <= compute * 1.6


def test_heads_without_lengths_share_the_width(tmp_path: Path) -> None:
    files = with_values(tmp_path, {})
    assert kv_bytes_per_token(files) == 4 * 2 * (64 + 64) * 2


def test_latent_attention_keeps_no_values(tmp_path: Path) -> None:
    lengths = {"attention.key_length": 576, "attention.value_length": 512, "attention.head_count_kv": 1}
    mla = {"attention.key_length_mla": 192, "attention.value_length_mla": 128}
    assert kv_bytes_per_token(with_values(tmp_path, lengths | mla)) == 4 * 576 * 2


def test_layers_without_attention_keep_a_state_instead(tmp_path: Path) -> None:
    ssm = {"ssm.conv_kernel": 4, "ssm.inner_size": 512, "ssm.state_size": 16, "ssm.group_count": 1}
    by_heads = with_values(tmp_path, ssm | {"attention.head_count_kv": [0, 0, 0, 2]})
    by_interval = with_values(tmp_path, ssm | {"full_attention_interval": 4})
    by_list = with_values(tmp_path, ssm | {"attention.recurrent_layers": [1, 1, 1, 0]})
    for files in (by_heads, by_interval):
        assert kv_bytes_per_token(files) == 2 * (64 + 64) * 2
        assert state_bytes(files) == 3 * (3 * (512 + 2 * 16) + 16 * 512) * 4
    assert kv_bytes_per_token(by_list) == 2 * (64 + 64) * 2


def test_rwkv_keeps_a_state_only(tmp_path: Path) -> None:
    files = with_values(tmp_path, {"wkv.head_size": 64})
    assert kv_bytes_per_token(files) == 0
    assert kv_bytes(files, 1 << 20) == 4 * 256 * (2 + 64) * 4
