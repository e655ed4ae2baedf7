"""What this computer has at this moment, for estimates: memory as the system says it, rates that the tuner found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psutil

from app.models.estimate import Machine, Measurement, Range


def this_machine(tuned: Mapping[str, Any] | None = None) -> Machine:
    """Memory now; drive and memory rates (bytes/s) measured by the tuner replace what is usual."""
    memory = psutil.virtual_memory()
    machine = Machine(int(memory.total), int(memory.available))
    drive = (tuned or {}).get("drive_rate")
    if isinstance(drive, (int, float)) and drive > 0:
        return Machine(machine.total_bytes, machine.available_bytes, Range(drive * 0.85, drive), measured=True)
    return machine


def measurement(tuned: Mapping[str, Any]) -> Measurement | None:
    """The tuner's run of this model, as the preset store keeps it; None when there is none."""
    try:
        found = Measurement(int(tuned["cache_bytes"]), float(tuned["tokens_per_s"]), float(tuned["hit_rate"]))
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.tokens_per_s > 0 else None
