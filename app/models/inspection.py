"""From the engine's answer about a model file to facts. Pure; the only place that knows the answer's fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.i18n import tr
from app.models.facts import ModelFacts
from app.models.shape import ModelShape

_USUAL_EXPERT_SHARE = 0.93
"""Share of a MoE file that is routed experts, where the answer does not say."""
_USUAL_KV_BYTES = 100_000


def facts_from_inspection(content: Any) -> tuple[ModelFacts | None, str]:
    """Facts, or None and one line why there are none."""
    if not isinstance(content, Mapping):
        return None, tr("The engine said nothing about this file.")
    total, n_expert = _count(content, "total_bytes"), _count(content, "n_expert")
    if total == 0:
        return None, tr("The engine said nothing about this file.")
    inner = content.get("memory")
    memory: Mapping[str, Any] = inner if isinstance(inner, Mapping) else content
    experts = _count(memory, "expert_bytes") or _count(content, "expert_bytes")
    if not experts and n_expert:
        experts = int(total * _USUAL_EXPERT_SHARE)
    shape = ModelShape(
        total_bytes=total,
        expert_bytes=min(experts, total),
        n_expert=n_expert,
        n_expert_used=_count(content, "n_expert_used"),
        kv_bytes_per_token=_kv_per_token(content, memory),
        context_length=_count(content, "context_length"),
    )
    facts = ModelFacts(
        name=str(content.get("name") or ""),
        architecture=str(content.get("architecture") or ""),
        quantization=str(content.get("quantization") or ""),
        n_layer=_count(content, "n_layer"),
        shape=shape,
    )
    return facts, ""


def _kv_per_token(content: Mapping[str, Any], memory: Mapping[str, Any]) -> int:
    for place in (content, memory):
        if found := _count(place, "kv_bytes_per_token"):
            return found
    whole, context = _count(memory, "kv_bytes"), _count(memory, "context_length")
    return whole // context if whole and context else _USUAL_KV_BYTES


def _count(content: Mapping[str, Any], name: str) -> int:
    value = content.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else 0
