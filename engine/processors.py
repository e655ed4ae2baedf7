"""How many cores this process may compute on: affinity, container quota and hyper-threads considered."""

from __future__ import annotations

import math
import os
from pathlib import Path

import psutil

_SYSFS = Path("/sys/devices/system/cpu")
_CGROUP_V2 = Path("/sys/fs/cgroup/cpu.max")
_CGROUP_V1 = Path("/sys/fs/cgroup/cpu")


def available_cores(sysfs: Path = _SYSFS, cgroup_v2: Path = _CGROUP_V2, cgroup_v1: Path = _CGROUP_V1) -> int:
    """Physical cores available to this process, at least 1. Two hyper-threads of a core share its arithmetic."""
    cores = _affinity_cores(sysfs) or psutil.cpu_count(logical=False) or os.cpu_count() or 1
    quota = container_quota(cgroup_v2, cgroup_v1)
    return max(1, cores if quota is None else min(cores, math.ceil(quota)))


def _affinity_cores(sysfs: Path) -> int:
    """Distinct physical cores among the processors this process may run on; 0 where the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        return 0
    siblings = set()
    for cpu in os.sched_getaffinity(0):
        try:
            siblings.add((sysfs / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text().strip())
        except OSError:
            siblings.add(str(cpu))
    return len(siblings)


def container_quota(v2: Path = _CGROUP_V2, v1: Path = _CGROUP_V1) -> float | None:
    """Processors' worth of time a container allows, or None without a limit."""
    try:
        limit, period = v2.read_text().split()[:2]
    except (OSError, ValueError):
        try:
            limit = (v1 / "cpu.cfs_quota_us").read_text().strip()
            period = (v1 / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    try:
        share = int(limit) / int(period)
    except (ValueError, ZeroDivisionError):  # "max" means no limit
        return None
    return share if share > 0 else None
