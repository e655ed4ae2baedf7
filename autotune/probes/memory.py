"""Memory: how much there is, how much is free, what limits it, and what the system allows to lock or to make huge."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.probes.probe import Probe
from engine.memory import memory_available
from engine.sizes import format_bytes


@dataclass(frozen=True)
class MemoryResult:
    """Bytes. `limit_bytes`: of a container (cgroup v1 or v2). `lock_bytes`: may be locked, None without a limit.

    `huge_pages` is the kernel's setting for transparent ones ("always", "madvise", "never"), None where there is none.
    """

    total_bytes: int
    available_bytes: int
    limit_bytes: int | None
    swap_total_bytes: int
    swap_used_bytes: int
    huge_pages: str | None
    lock_bytes: int | None
    source: str
    notes: tuple[str, ...] = ()


def probe_memory() -> MemoryResult:
    """Asks the operating system; measures nothing."""
    free, swap = memory_available(), psutil.swap_memory()
    huge, lock = _huge_pages(), _lock_limit()
    notes = []
    if free.limit_bytes is not None and free.limit_bytes < free.total_bytes:
        notes.append(f"a container limits this program to {format_bytes(free.limit_bytes)} of memory")
    if swap.used > 0.5 * max(1, swap.total):
        notes.append("much of the memory is swapped out: close other programs before measuring")
    if huge == "never":
        notes.append("huge pages are off in this system: computing is slower than it could be")
    return MemoryResult(
        total_bytes=free.total_bytes,
        available_bytes=free.available_bytes,
        limit_bytes=free.limit_bytes,
        swap_total_bytes=swap.total,
        swap_used_bytes=swap.used,
        huge_pages=huge,
        lock_bytes=lock,
        source=free.source,
        notes=tuple(notes),
    )


def _huge_pages(path: Path = Path("/sys/kernel/mm/transparent_hugepage/enabled")) -> str | None:
    try:
        text = path.read_text(encoding="ascii")
    except OSError:
        return None
    return text[text.find("[") + 1 : text.find("]")] or None


def _lock_limit() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    soft, _hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return None if soft == resource.RLIM_INFINITY else soft


def _run(facts: ModelFacts | None, control: Control) -> MemoryResult:
    del facts
    control.check()
    return probe_memory()


def _figure(result: MemoryResult) -> str:
    total = min(result.total_bytes, result.limit_bytes or result.total_bytes)
    return f"{format_bytes(result.available_bytes)} free of {format_bytes(total)}"


MEMORY = Probe(
    name="memory",
    title="Memory",
    unit="bytes",
    method="what the operating system and a container's limits say at this moment, page cache counted as free",
    seconds=1.0,
    memory_bytes=1 << 20,
    needs_model=False,
    run=_run,
    figure=_figure,
)
