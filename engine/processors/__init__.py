"""How many cores this process computes on: kinds of cores, affinity, container quota, hyper-threads and battery.

`platforms` asks the system, `choice` decides.
"""

from __future__ import annotations

import os

import psutil

from engine.processors.choice import Core, computing, performance, saving
from engine.processors.platforms import Platform, this_platform
from engine.processors.quota import container_quota

__all__ = ["Core", "available_cores", "compute_threads", "container_quota", "efficient_cores", "on_battery"]


def available_cores(platform: Platform | None = None, quota: float | None = None) -> int:
    """Physical cores to compute on, at least 1: the fast ones, where a processor has two kinds."""
    platform = platform or this_platform()
    cores = platform.cores()
    if not cores:
        count = psutil.cpu_count(logical=False) or os.cpu_count() or 1
        cores = tuple(Core(frozenset({number})) for number in range(count))
    return computing(cores, platform.allowed(), container_quota() if quota is None else quota)


def efficient_cores(platform: Platform | None = None) -> int:
    """Physical cores of the machine's slower kind; 0 where all are alike or the system does not say."""
    cores = (platform or this_platform()).cores()
    return len(cores) - len(performance(cores))


def compute_threads(save_battery: bool) -> int:
    """Threads to compute with where a user has not said how many."""
    cores = available_cores()
    return saving(cores) if save_battery and on_battery() else cores


def on_battery() -> bool:
    """Whether the machine runs on its battery now; False where there is none, or where the system does not say."""
    try:
        battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    except OSError:  # a system without /sys
        return False
    return battery is not None and battery.power_plugged is False
