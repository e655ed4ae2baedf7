"""From the engine's answer about a model file to facts. Pure; the only place that knows the answer's fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.i18n import tr
from app.models.facts import ModelFacts
from app.models.shape import ModelShape


def facts_from_inspection(content: Any) -> tuple[ModelFacts | None, str]:
    """Facts, or None and one line why there are none."""
    if not isinstance(content, Mapping) or _count(content, "total_bytes") == 0:
        return None, tr("The engine said nothing about this file.")
    plan = content.get("plan")
    total = _count(content, "total_bytes")
    shape = ModelShape(
        total_bytes=total,
        expert_bytes=min(total, _count(plan, "expert_bytes") if isinstance(plan, Mapping) else 0),
        n_expert=_count(content, "n_expert"),
        n_expert_used=_count(content, "n_expert_used"),
        kv_bytes_per_token=_count(content, "kv_bytes_per_1000") // 1000,
        context_length=_count(content, "context_length"),
    )
    facts = ModelFacts(
        name=str(content.get("name") or ""),
        architecture=str(content.get("architecture") or ""),
        quantization=_main_quantization(content.get("quantization")),
        n_layer=_count(content, "n_layer"),
        shape=shape,
    )
    return facts, ""


def _main_quantization(bytes_by_type: Any) -> str:
    """The type that most of the bytes have."""
    if not isinstance(bytes_by_type, Mapping):
        return ""
    return max(map(str, bytes_by_type), key=lambda name: _count(bytes_by_type, name), default="")


def _count(content: Mapping[str, Any], name: str) -> int:
    value = content.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else 0
