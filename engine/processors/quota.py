"""How much processor time a container allows this process: control groups, versions 1 and 2."""

from __future__ import annotations

from pathlib import Path

_CGROUP_V2 = Path("/sys/fs/cgroup/cpu.max")
_CGROUP_V1 = Path("/sys/fs/cgroup/cpu")


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
