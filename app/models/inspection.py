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
    total = _count(content, "total_bytes")
    shape = ModelShape(
        total_bytes=total,
        expert_bytes=min(total, _count(content, "expert_bytes")),
        n_expert=_count(content, "n_expert"),
        n_expert_used=_count(content, "n_expert_used"),
        kv_bytes_per_token=_count(content, "kv_bytes_per_token"),
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


def _count(content: Mapping[str, Any], name: str) -> int:
    value = content.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else 0
