"""What the operating system says of its processors: one small interface, one class for each system."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Protocol

import psutil

from engine.processors.choice import Core

_SYSFS = Path("/sys/devices")
_FAST, _EFFICIENT = 1.0, 0.5  # where a system names two kinds but not how fast they are
_GROUP_BITS = 64  # logical processors in one of Windows' groups


class Platform(Protocol):
    """An operating system."""

    def cores(self) -> tuple[Core, ...]:
        """Every physical core of the machine; empty where the system does not say."""

    def allowed(self) -> Collection[int] | None:
        """Numbers of the logical processors this process may run on; None where it cannot be bound to some."""


class Linux:
    """From sysfs; `root` stands for /sys/devices."""

    def __init__(self, root: Path = _SYSFS) -> None:
        self._root = root

    def cores(self) -> tuple[Core, ...]:
        """Processors with the same `thread_siblings_list` are one core."""
        efficient = parse_list(_text(self._root / "cpu_atom" / "cpus"))
        siblings: dict[str, set[int]] = {}
        for folder in (self._root / "system" / "cpu").glob("cpu[0-9]*"):
            number = int(folder.name[3:])
            name = _text(folder / "topology" / "thread_siblings_list") or str(number)
            siblings.setdefault(name, set()).add(number)
        found = (Core(frozenset(cpus), self._speed(min(cpus), efficient)) for cpus in siblings.values())
        return tuple(sorted(found, key=lambda core: min(core.cpus)))

    def allowed(self) -> Collection[int] | None:
        """The affinity, a container's processor set included."""
        return os.sched_getaffinity(0) if sys.platform == "linux" else None

    def _speed(self, cpu: int, efficient: Collection[int]) -> float:
        """By kind on Intel's hybrids, else the scheduler's capacity, else the top clock."""
        if efficient:
            return _EFFICIENT if cpu in efficient else _FAST
        folder = self._root / "system" / "cpu" / f"cpu{cpu}"
        for name in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
            text = _text(folder / name)
            if text.isdigit():
                return float(text)
        return _FAST


class MacOs:
    """From sysctl: performance levels, fastest first. macOS does not bind processes to processors."""

    def cores(self) -> tuple[Core, ...]:
        """Fast cores first; their numbers are made up."""
        counts = [int(self._sysctl(f"hw.perflevel{level}.physicalcpu") or 0) for level in (0, 1)]
        if not counts[0]:
            counts = [psutil.cpu_count(logical=False) or 0, 0]
        speeds = [_FAST] * counts[0] + [_EFFICIENT] * counts[1]
        return tuple(Core(frozenset({number}), speed) for number, speed in enumerate(speeds))

    def allowed(self) -> Collection[int] | None:
        """Any."""
        return None

    def _sysctl(self, name: str) -> str:
        try:
            done = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, timeout=5, check=False)
        except OSError:
            return ""
        return done.stdout.strip()


class Windows:
    """From `GetLogicalProcessorInformationEx(RelationProcessorCore)`."""

    def cores(self) -> tuple[Core, ...]:
        """Cores of the highest efficiency class are the fast ones: Windows counts upwards."""
        return parse_windows_cores(self._information())

    def allowed(self) -> Collection[int] | None:
        """The affinity within the process's group; None on machines with several groups, where it says little."""
        numbers = psutil.Process().cpu_affinity() if sys.platform == "win32" else None
        return numbers if (os.cpu_count() or 1) <= _GROUP_BITS else None

    def _information(self) -> bytes:
        kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
        size = ctypes.c_uint32(0)
        kernel.GetLogicalProcessorInformationEx(0, None, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        if not size.value or not kernel.GetLogicalProcessorInformationEx(0, buffer, ctypes.byref(size)):
            return b""
        return buffer.raw[: size.value]


def this_platform() -> Platform:
    """The system this runs on."""
    if sys.platform == "win32":
        return Windows()
    return MacOs() if sys.platform == "darwin" else Linux()


def parse_windows_cores(records: bytes) -> tuple[Core, ...]:
    """Cores from `SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX` records with `PROCESSOR_RELATIONSHIP` in them.

    Each: Relationship u32, Size u32, Flags u8, EfficiencyClass u8, 20 reserved bytes, GroupCount u16, then for each
    group its mask (8 bytes), number u16 and 6 reserved bytes.
    """
    found = list(_windows_cores(records))
    best = max((kind for kind, _ in found), default=0)
    return tuple(Core(cpus, _FAST if kind == best else _EFFICIENT) for kind, cpus in found)


def _windows_cores(records: bytes) -> Iterator[tuple[int, frozenset[int]]]:
    at = 0
    while at + 32 <= len(records):
        (size,) = struct.unpack_from("<I", records, at + 4)
        (groups,) = struct.unpack_from("<H", records, at + 30)
        cpus: set[int] = set()
        for group in range(groups):
            mask, number = struct.unpack_from("<QH", records, at + 32 + 16 * group)
            cpus |= {number * _GROUP_BITS + bit for bit in range(_GROUP_BITS) if mask >> bit & 1}
        yield records[at + 9], frozenset(cpus)
        at += max(size, 32)


def parse_list(text: str) -> frozenset[int]:
    """Numbers of a kernel list such as "0-3,8,10-11"."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit():
            numbers |= set(range(int(first), int(last or first) + 1))
    return frozenset(numbers)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
