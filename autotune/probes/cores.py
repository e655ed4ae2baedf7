"""Processors: how many, which kinds, how many this program may use, and what their vector units are used for."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.ggml import ggml
from autotune.probes.probe import Probe
from engine.processors import available_cores, container_quota

_SYSFS = Path("/sys/devices")


@dataclass(frozen=True)
class CoresResult:
    """`physical`, `logical`: of the machine. `usable`: logical processors this process may run on (affinity, quota).

    `usable_cores`: the physical cores among them. `performance` and `efficiency` are physical cores where a machine
    has two kinds, else all and 0. `quota` is a container's limit in processors.
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
    efficiency = min(efficiency_cores(), max(0, physical - 1))
    load = _load()
    notes = []
    if quota is not None:
        notes.append(f"a container limits this program to {quota:g} processors")
    if usable < logical and quota is None:
        notes.append(f"this program may use {usable} of {logical} processors")
    if load > 0.25 * logical:
        notes.append(f"other programs keep about {load:.1f} processors busy: measurements vary more")
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


def efficiency_cores(sysfs: Path = _SYSFS) -> int:
    """Physical cores of the slower kind; 0 where all are alike or the system does not say."""
    if sys.platform == "darwin":
        return int(_sysctl("hw.perflevel1.physicalcpu") or 0)
    if sys.platform == "win32":
        return _windows_efficiency_cores()
    atom = _text(sysfs / "cpu_atom" / "cpus").strip()
    if atom:
        return count_list(atom)
    capacities = [int(_text(p) or 0) for p in sorted((sysfs / "system" / "cpu").glob("cpu[0-9]*/cpu_capacity"))]
    return sum(c < max(capacities) for c in capacities) if capacities else 0


def count_list(text: str) -> int:
    """Length of a kernel list such as "0-3,8,10-11"."""
    total = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        total += int(last or first) - int(first) + 1
    return total


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


def _windows_efficiency_cores() -> int:
    """`GetLogicalProcessorInformationEx(RelationProcessorCore)`: cores below the highest efficiency class."""
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    size = ctypes.c_uint32(0)
    kernel.GetLogicalProcessorInformationEx(0, None, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    if not size.value or not kernel.GetLogicalProcessorInformationEx(0, buffer, ctypes.byref(size)):
        return 0
    classes, at = [], 0
    while at < size.value:
        (length,) = struct.unpack_from("<I", buffer.raw, at + 4)
        classes.append(buffer.raw[at + 9])  # Relationship, Size, Flags, EfficiencyClass
        at += length
    return sum(c < max(classes) for c in classes)


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
