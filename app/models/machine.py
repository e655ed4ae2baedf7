"""What this computer has at this moment, for estimates: memory as the system says it, rates that the tuner found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import psutil

from app.models.estimate import Machine, Measurement, Range

CORE_RATE = Range(4e9, 7e9)
"""Weights that one core gets through, bytes/s: stock kernels 4-5 from memory, the fused ones up to 7 beside others."""


def this_machine(tuned: Mapping[str, Any] | None = None) -> Machine:
    """Memory now; drive and memory rates (bytes/s) measured by the tuner replace what is usual."""
    memory = psutil.virtual_memory()
    cores = psutil.cpu_count(logical=False) or 1
    rate = Range(min(24e9, cores * CORE_RATE.low), min(60e9, cores * CORE_RATE.high))
    machine = Machine(int(memory.total), int(memory.available), memory_rate=rate)
    drive = (tuned or {}).get("drive_rate")
    if isinstance(drive, (int, float)) and drive > 0:
        return replace(machine, drive_rate=Range(drive * 0.85, drive), measured=True)
    return machine


def measurement(tuned: Mapping[str, Any]) -> Measurement | None:
    """The tuner's run of this model, as the preset store keeps it; None when there is none."""
    try:
        found = Measurement(int(tuned["cache_bytes"]), float(tuned["tokens_per_s"]), float(tuned["hit_rate"]))
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.tokens_per_s > 0 else None
