"""Processors: how many, which kinds, how many this program may use, and what their vector units are used for."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.ggml import ggml
from autotune.probes.probe import Probe
from engine.processors import available_cores, container_quota, efficient_cores


@dataclass(frozen=True)
class CoresResult:
    """`physical`, `logical`: of the machine. `usable`: logical processors this process may run on (affinity, quota).

    `usable_cores`: the physical cores to compute on among them, only the fast ones where there are two kinds.
    `performance` and `efficiency` are physical cores where a machine has two kinds, else all and 0. `quota` is a
    container's limit in processors.
    """

    name: str
    physical: int
    logical: int
    usable: int
    usable_cores: int
    performance: int
    efficiency: int
    smt: bool
    quota: float | None
    load: float
    vector: tuple[str, ...]
    notes: tuple[str, ...] = ()


def probe_cores() -> CoresResult:
    """Asks the operating system and ggml; no measuring."""
    logical = os.cpu_count() or 1
    physical = psutil.cpu_count(logical=False) or logical
    quota = container_quota()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else logical
    if quota is not None:
        usable = max(1, min(usable, round(quota + 0.49)))
    efficiency = min(efficient_cores(), max(0, physical - 1))
    load = _load()
    notes = []
    if quota is not None:
        notes.append(f"a container limits this program to {quota:g} processors")
    if usable < logical and quota is None:
        notes.append(f"this program may use {usable} of {logical} processors")
    if load > 0.25 * logical:
        notes.append(
            f"other programs keep about {load:.1f} processors busy: measurements vary more, and without those programs "
            "something else may be best"
        )
    return CoresResult(
        name=processor_name(),
        physical=physical,
        logical=logical,
        usable=usable,
        usable_cores=available_cores(),
        performance=physical - efficiency,
        efficiency=efficiency,
        smt=logical > physical,
        quota=quota,
        load=load,
        vector=_vector(),
        notes=tuple(notes),
    )


def _load() -> float:
    """Processors kept busy at the moment by everything, from a tenth of a second."""
    return float(psutil.cpu_percent(interval=0.1)) / 100 * (os.cpu_count() or 1)


def _vector() -> tuple[str, ...]:
    try:
        return ggml().cpu_features()
    except (OSError, AttributeError):
        return ()


def processor_name() -> str:
    """The processor as its maker calls it."""
    if sys.platform == "linux":
        for line in _text(Path("/proc/cpuinfo")).splitlines():
            key, _, value = line.partition(":")
            if key.strip() in {"model name", "Hardware", "cpu model"} and value.strip():
                return value.strip()
    if sys.platform == "darwin":
        return _sysctl("machdep.cpu.brand_string") or platform.machine()
    return platform.processor() or platform.machine()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, timeout=5, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def _run(facts: ModelFacts | None, control: Control) -> CoresResult:
    del facts
    control.check()
    return probe_cores()


def _figure(result: CoresResult) -> str:
    kinds = f" ({result.performance} fast, {result.efficiency} efficient)" if result.efficiency else ""
    return f"{result.usable_cores} of {result.physical} cores{kinds} usable, {result.name}"


CORES = Probe(
    name="cores",
    title="Processor",
    unit="cores",
    method="what the operating system and ggml say: kinds of cores, affinity, container quota, vector extensions",
    seconds=1.0,
    memory_bytes=1 << 20,
    needs_model=False,
    run=_run,
    figure=_figure,
)
