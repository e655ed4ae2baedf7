"""Metadata of a tiny model of each architecture; keys are without the architecture's prefix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LAYERS, WIDTH, EXPERT_WIDTH, EXPERTS, USED, HEADS, KV_HEADS = 4, 256, 256, 16, 4, 4, 2

_COMMON: dict[str, Any] = {
    "block_count": LAYERS,
    "context_length": 512,
    "embedding_length": WIDTH,
    "feed_forward_length": EXPERT_WIDTH,
    "expert_count": EXPERTS,
    "expert_used_count": USED,
    "attention.head_count": HEADS,
    "attention.head_count_kv": KV_HEADS,
    "attention.layer_norm_rms_epsilon": 1e-6,
    "rope.freq_base": 10000.0,
}


@dataclass(frozen=True)
class Architecture:
    """An architecture's metadata and what its files leave out.

    Attributes:
        name: `general.architecture`.
        metadata: values by key, on top of what all have.
        leave_out: a pattern of optional tensors that the architecture's files do not have.
        split_gate_up: store gate and up apart where llama.cpp would take them as one tensor too.
    """

    name: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    leave_out: str = r"attn_(q|k|v|output)\.bias|rope_freqs"
    split_gate_up: bool = True

    def values(self) -> dict[str, Any]:
        """All metadata of the architecture, with its prefix."""
        return {f"{self.name}.{key}": value for key, value in (_COMMON | dict(self.metadata)).items()}

    def has(self, tensor: str) -> bool:
        """Whether the architecture's files hold `tensor`."""
        return re.search(self.leave_out, tensor) is None


_EXPERT_WIDTH = {"expert_feed_forward_length": EXPERT_WIDTH}
_HEAD_64 = {"attention.key_length": 64, "attention.value_length": 64}
_DEEPSEEK2 = _EXPERT_WIDTH | {
    "leading_dense_block_count": 1,
    "attention.head_count_kv": 1,
    "attention.q_lora_rank": 64,
    "attention.kv_lora_rank": 64,
    "attention.key_length": 96,
    "attention.value_length": 64,
    "attention.key_length_mla": 96,
    "attention.value_length_mla": 64,
    "rope.dimension_count": 32,
    "expert_shared_count": 1,
    "expert_weights_scale": 1.5,
    "expert_weights_norm": True,
    "expert_gating_func": 2,
}

ARCHITECTURES: dict[str, Architecture] = {
    "qwen3moe": Architecture("qwen3moe", _EXPERT_WIDTH | _HEAD_64),
    "qwen2moe": Architecture(
        "qwen2moe",
        _EXPERT_WIDTH | {"expert_shared_feed_forward_length": 256},
        leave_out=r"attn_output\.bias",
    ),
    "mixtral": Architecture("llama", {"expert_count": 8, "expert_used_count": 2, "rope.dimension_count": 64}),
    "olmoe": Architecture("olmoe", {"attention.head_count_kv": HEADS}),
    "deepseek2": Architecture("deepseek2", _DEEPSEEK2),
    "deepseek2-fused": Architecture("deepseek2", _DEEPSEEK2, split_gate_up=False),
    "glm4moe": Architecture(
        "glm4moe",
        _EXPERT_WIDTH
        | _HEAD_64
        | {
            "leading_dense_block_count": 1,
            "rope.dimension_count": 32,
            "expert_shared_count": 1,
            "expert_weights_scale": 1.0,
            "expert_weights_norm": True,
            "expert_gating_func": 2,
        },
        leave_out=r"attn_output\.bias|rope_freqs|nextn",
    ),
    "gpt-oss": Architecture(
        "gpt-oss",
        _EXPERT_WIDTH | _HEAD_64 | {"attention.sliding_window": 32, "rope.dimension_count": 64},
        leave_out=r"rope_freqs",
    ),
    "granitemoe": Architecture(
        "granitemoe",
        {
            "expert_shared_feed_forward_length": 256,
            "logit_scale": 6.0,
            "residual_scale": 0.22,
            "embedding_scale": 12.0,
            "attention.scale": 0.015625,
            "rope.dimension_count": 64,
        },
    ),
}
