"""How much memory is free right now, on the machine and within a container's limit."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import psutil

from engine.memory.cgroups import GroupFinder, GroupMemory

_groups = GroupFinder()


@dataclass(frozen=True, slots=True)
class MemoryAvailable:
    """Memory that may be used.

    Attributes:
        total_bytes: of the machine, or the limit where that is lower.
        available_bytes: what can be taken now without swapping; page cache counts as free.
        limit_bytes: the limit of the container or service that decides, None where the machine does.
        source: what decided, for a note: "machine" or "limit of /sys/fs/cgroup/...".
    """

    total_bytes: int
    available_bytes: int
    limit_bytes: int | None = None
    source: str = "machine"


def memory_available() -> MemoryAvailable:
    """Measure now; without a readable limit the machine's figures count. Raises OSError if the system says nothing."""
    machine = psutil.virtual_memory()
    group = _groups.tightest() if sys.platform == "linux" else None
    return combine(machine.total, machine.available, group)


def combine(total_bytes: int, available_bytes: int, group: GroupMemory | None) -> MemoryAvailable:
    """The tighter of the machine's figures and a control group's."""
    if group is None or group.available_bytes >= available_bytes:
        return MemoryAvailable(total_bytes, available_bytes)
    limit = min(total_bytes, group.limit_bytes)
    return MemoryAvailable(limit, group.available_bytes, group.limit_bytes, f"limit of {group.path}")
