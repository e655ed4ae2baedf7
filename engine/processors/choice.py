"""How many cores compute, from what the system says of its processors. Pure.

A layer is done when its last thread is: a slow core holds up the fast ones at every step, so only fast cores compute.
Two hyper-threads of a core share its arithmetic, so one thread a core is enough.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

# Cores at least this fast, against the fastest, count as performance cores. By what makers state it parts big and
# little cores of Arm's (capacities 1024, 870 and 325) and full and compact ones of AMD's (top clocks 5.1 and 3.3 GHz);
# Intel's efficient cores have a name of their own.
_FAST_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Core:
    """A physical core. `cpus`: its logical processors' numbers. `speed`: in any unit, the same for all cores."""

    cpus: frozenset[int]
    speed: float = 1.0


def usable(cores: Collection[Core], allowed: Collection[int] | None) -> tuple[Core, ...]:
    """The cores with a processor among the `allowed` ones; all, where None says that there is no such list."""
    if allowed is None:
        return tuple(cores)
    return tuple(core for core in cores if not core.cpus.isdisjoint(allowed))


def performance(cores: Collection[Core]) -> tuple[Core, ...]:
    """The fast ones of two or more kinds of cores; all, where they are alike."""
    fastest = max((core.speed for core in cores), default=0.0)
    return tuple(core for core in cores if core.speed >= _FAST_SHARE * fastest)


def computing(cores: Collection[Core], allowed: Collection[int] | None, quota: float | None) -> int:
    """Cores to compute on, at least 1: the fast ones this process may use, within a container's quota.

    A single fast core is no gain over several efficient ones, so then all count.
    """
    own = usable(cores, allowed)
    fast = performance(own)
    count = len(fast) if len(fast) > 1 else len(own)
    return max(1, count if quota is None else min(count, math.ceil(quota)))


def saving(cores: int) -> int:
    """Of so many computing cores, those to use on battery: half, but two where there are two."""
    return max(min(cores, 2), math.ceil(cores / 2))
