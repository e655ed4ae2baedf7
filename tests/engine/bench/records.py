"""Runs as the bench would have recorded them."""

from __future__ import annotations

from typing import Any

from engine.bench.results import ArmRecord, Origin


def run_of(arm: str, suite: str = "cache", **values: Any) -> ArmRecord:
    """A run of `arm` on one model, at one commit."""
    return ArmRecord(Origin(suite, arm, "Some model", "abc", "2026-01-01T00:00:00+00:00"), **values)
