"""Measurements of the machine, each bounded in time and memory. `PROBES` is their only list, in running order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.probes.bandwidth import BANDWIDTH, BandwidthResult
from autotune.probes.compute import COMPUTE, ComputeResult
from autotune.probes.cores import CORES, CoresResult
from autotune.probes.drive import DRIVE, DriveResult
from autotune.probes.gpu import GPUS, GpuResult
from autotune.probes.memory import MEMORY, MemoryResult
from autotune.probes.probe import Probe, Reading, read
from autotune.probes.volume import VOLUME, VolumeResult

PROBES: tuple[Probe[Any], ...] = (MEMORY, CORES, GPUS, VOLUME, COMPUTE, DRIVE, BANDWIDTH)

__all__ = [
    "CORES",
    "GPUS",
    "MEMORY",
    "PROBES",
    "VOLUME",
    "BandwidthResult",
    "ComputeResult",
    "CoresResult",
    "DriveResult",
    "GpuResult",
    "MemoryResult",
    "Probe",
    "Reading",
    "VolumeResult",
    "read",
    "run_probes",
]


def run_probes(
    facts: ModelFacts | None,
    control: Control,
    progress: Callable[[Probe[Any], Reading[Any] | None, float], None] = lambda _p, _r, _f: None,
    probes: tuple[Probe[Any], ...] = PROBES,
) -> dict[str, Reading[Any]]:
    """Run `probes` one after the other. `progress` hears of each before (None) and after it, with the share done."""
    readings: dict[str, Reading[Any]] = {}
    total = sum(p.seconds for p in probes)
    done = 0.0
    for probe in probes:
        progress(probe, None, done / total)
        if control.remaining() > 0:
            readings[probe.name] = read(probe, facts, control.within(probe.seconds * max(1.0, control.scale)))
        else:
            note = (f"no time was left to measure this: {probe.title}",)
            readings[probe.name] = Reading(probe.name, probe.unit, probe.method, 0.0, None, "unknown", note)
        done += probe.seconds
        progress(probe, readings[probe.name], done / total)
    return readings
