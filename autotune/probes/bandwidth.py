"""Memory bandwidth: how fast 1 to n threads together read memory that is in no cache.

Each thread sums its own buffer with numpy (which releases the interpreter's lock and uses vector loads); the rate
counts bytes read. Buffers are much larger than a core's caches; where little memory is free they are smaller and
the result says so.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.probes.compute import thread_counts
from autotune.probes.cores import probe_cores
from autotune.probes.probe import Probe
from engine.memory import memory_available

BUFFER_BYTES = 256 << 20
POINT_SECONDS = 0.3
STEP_BYTES = 8 << 20


@dataclass(frozen=True)
class BandwidthResult:
    """`points` are (threads, bytes per second)."""

    points: tuple[tuple[int, float], ...]
    notes: tuple[str, ...] = ()

    @property
    def best_bytes_s(self) -> float:
        """The highest rate of all thread counts."""
        return max(rate for _, rate in self.points)


def probe_bandwidth(control: Control) -> BandwidthResult:
    """Measures every thread count for a third of a second."""
    cores = probe_cores()
    counts = thread_counts(cores.physical, cores.usable)
    size = min(BUFFER_BYTES, memory_available().available_bytes // 8) // STEP_BYTES * STEP_BYTES
    size = max(size, STEP_BYTES * max(counts))
    memory = _filled(size // 8, control)
    seconds = control.seconds(POINT_SECONDS)
    points: list[tuple[int, float]] = []
    for n in counts:
        if not points or control.remaining() > seconds:
            points.append((n, read_rate(memory, n, seconds, control)))
    notes = ("little memory: the buffer is small, caches may flatter the rate",) if size < BUFFER_BYTES else ()
    return BandwidthResult(tuple(points), notes)


def _filled(count: int, control: Control) -> np.ndarray:
    """So many 64-bit ones; may be cancelled on the way, since a system short of memory gives pages slowly."""
    memory, step = np.empty(count, np.int64), STEP_BYTES // 8
    for at in range(0, count, step):
        control.check()
        memory[at : at + step] = 1
    return memory


def read_rate(memory: np.ndarray, threads: int, seconds: float, control: Control) -> float:
    """Bytes per second that `threads` threads read together, each in its own part of `memory`."""
    ready = threading.Barrier(threads)
    parts = np.array_split(memory, threads)
    total: list[tuple[int, float, float]] = []

    def work(part: np.ndarray) -> None:
        ready.wait()
        step, done, at = STEP_BYTES // 8, 0, 0
        begin = control.clock()
        while (now := control.clock()) - begin < seconds and not control.cancelled():
            chunk = part[at : at + step]
            np.add.reduce(chunk)
            done += chunk.nbytes
            at = at + step if at + 2 * step <= len(part) else 0
        total.append((done, begin, now))

    team = [threading.Thread(target=work, args=(part,), daemon=True, name="bandwidth-probe") for part in parts]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    control.check()
    took = max(end for _, _, end in total) - min(begin for _, begin, _ in total)
    return sum(done for done, _, _ in total) / took if took > 0 else 0.0


def _run(facts: ModelFacts | None, control: Control) -> BandwidthResult:
    del facts
    return probe_bandwidth(control)


def _figure(result: BandwidthResult) -> str:
    return f"{result.best_bytes_s / 1e9:.1f} GB/s"


BANDWIDTH = Probe(
    name="bandwidth",
    title="Memory bandwidth",
    unit="bytes per second",
    method="1 to n threads sum buffers far larger than the caches (numpy, 64-bit loads)",
    seconds=8 * POINT_SECONDS + 2,
    memory_bytes=BUFFER_BYTES + (1 << 20),
    needs_model=False,
    run=_run,
    figure=_figure,
)
