"""How fast this machine multiplies with the model's own experts, for 1 to n threads.

Runs `ggml_mul_mat_id`, the very operation that stock llama.cpp computes experts with, on the CPU device: one token,
as many experts as the model uses, the model's types and shapes, other experts each time out of a pool far larger
than a core's caches (memory latency, not arithmetic, is what limits decoding).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from autotune.control import Control
from autotune.facts import ExpertShape, ModelFacts
from autotune.ggml import CPU, F32, I32, Ggml, ggml
from autotune.probes.cores import probe_cores
from autotune.probes.probe import Probe
from engine.memory import memory_available

POOL_BYTES = 512 << 20
POINT_SECONDS = 0.4
FILL_BYTES = 32 << 20
FILL = 0x11  # as a half-precision scale a small normal number: no kernel meets NaN or denormals


@dataclass(frozen=True)
class ComputePoint:
    """`bytes_s` of expert weights gone through per second; `seconds_per_matrix` for one expert's matrix."""

    type_name: str
    columns: int
    rows: int
    threads: int
    bytes_s: float
    seconds_per_matrix: float


@dataclass(frozen=True)
class ComputeResult:
    """`points` by shape and threads; `token_seconds` by threads: all expert products of one token."""

    points: tuple[ComputePoint, ...]
    token_seconds: tuple[tuple[int, float], ...]
    notes: tuple[str, ...] = ()

    @property
    def best_threads(self) -> int:
        """The fewest threads within 3 % of the best."""
        fastest = min(s for _, s in self.token_seconds)
        return min(n for n, s in self.token_seconds if s <= 1.03 * fastest)

    def seconds_at(self, threads: int) -> float:
        """Expert seconds per token with so many threads (the nearest measured number)."""
        return min(self.token_seconds, key=lambda p: abs(p[0] - threads))[1]


@contextmanager
def _products(
    lib: Ggml, shape: ExpertShape, n_used: int, pool_bytes: int, control: Control
) -> Iterator[tuple[int, int, int, int, int]]:
    """A graph with one `mul_mat_id`: yields (device, backend, graph, ids tensor, number of experts in the pool)."""
    n_pool = max(n_used, pool_bytes // shape.nbytes)
    device = lib.ggml_backend_dev_by_type(CPU)
    backend = lib.ggml_backend_dev_init(device, None)
    try:
        with lib.context(8) as context:
            weights = lib.ggml_new_tensor_3d(context, shape.ggml_type, shape.columns, shape.rows, n_pool)
            inputs = lib.ggml_new_tensor_3d(context, F32, shape.columns, 1, 1)
            ids = lib.ggml_new_tensor_2d(context, I32, n_used, 1)
            graph = lib.ggml_new_graph(context)
            lib.ggml_build_forward_expand(graph, lib.ggml_mul_mat_id(context, weights, inputs, ids))
            buffer = lib.ggml_backend_alloc_ctx_tensors(context, backend)
            if not buffer:
                raise MemoryError(f"no memory for {n_pool} experts to compute with")
            try:
                _fill(lib, weights, control)
                ones = np.ones(shape.columns, np.float32)
                lib.ggml_backend_tensor_set(inputs, ones.ctypes.data, 0, ones.nbytes)
                yield device, backend, graph, ids, n_pool
            finally:
                lib.ggml_backend_buffer_free(buffer)
    finally:
        lib.ggml_backend_free(backend)


def _fill(lib: Ggml, weights: int, control: Control) -> None:
    """May be cancelled on the way, since a system short of memory gives pages slowly."""
    nbytes = lib.ggml_nbytes(weights)
    for at in range(0, nbytes, FILL_BYTES):
        control.check()
        lib.ggml_backend_tensor_memset(weights, FILL, at, min(FILL_BYTES, nbytes - at))


def measure_shape(
    shape: ExpertShape, n_used: int, threads: tuple[int, ...], seconds: float, pool_bytes: int, control: Control
) -> list[ComputePoint]:
    """One point per thread count. The median product counts, so that an interruption does not."""
    lib = ggml()
    points: list[ComputePoint] = []
    with _products(lib, shape, n_used, pool_bytes, control) as (device, backend, graph, ids, n_pool):
        draw = random.Random(0)
        for n in threads:
            if points and control.remaining() <= 0:
                break
            lib.set_threads(device, backend, n)
            times: list[float] = []
            end = control.clock() + seconds
            while control.clock() < end or len(times) < 3:
                control.check()
                if times and control.remaining() <= 0:
                    break
                chosen = np.array(draw.sample(range(n_pool), n_used), np.int32)
                lib.ggml_backend_tensor_set(ids, chosen.ctypes.data, 0, chosen.nbytes)
                begin = control.clock()
                lib.ggml_backend_graph_compute(backend, graph)
                times.append(control.clock() - begin)
            took = float(np.median(times)) / n_used
            points.append(ComputePoint(shape.type_name, shape.columns, shape.rows, n, shape.nbytes / took, took))
    return points


def thread_counts(physical: int, usable: int) -> tuple[int, ...]:
    """1, 2, 4 ... and both the physical cores and everything usable, at most eight numbers."""
    counts = {1, max(1, min(physical, usable)), max(1, usable)}
    n = 2
    while n < usable:
        counts.add(n)
        n *= 2
    return tuple(sorted(counts))[-8:]


def probe_compute(facts: ModelFacts, control: Control) -> ComputeResult:
    """Every expert shape of the model (the three commonest) with every thread count."""
    cores = probe_cores()
    counts = thread_counts(cores.physical, cores.usable)
    shapes = facts.shapes[:3]
    pool = min(POOL_BYTES, memory_available().available_bytes // 8)
    seconds = control.seconds(POINT_SECONDS)
    points: list[ComputePoint] = []
    for shape in shapes:
        if points and control.remaining() <= 0:
            break
        points += measure_shape(shape, max(1, facts.n_used), counts, seconds, pool, control)
    return ComputeResult(tuple(points), _token_seconds(facts, points, counts), _notes(facts, pool))


def _token_seconds(
    facts: ModelFacts, points: list[ComputePoint], counts: tuple[int, ...]
) -> tuple[tuple[int, float], ...]:
    """By threads; shapes that were not measured with a number of threads are taken to go at the same rate."""
    total = sum(s.nbytes * s.matrices for s in facts.shapes)
    table = {(p.type_name, p.columns, p.rows, p.threads): p.seconds_per_matrix for p in points}
    found = []
    for n in counts:
        measured = [s for s in facts.shapes if (s.type_name, s.columns, s.rows, n) in table]
        nbytes = sum(s.nbytes * s.matrices for s in measured)
        seconds = sum(table[s.type_name, s.columns, s.rows, n] * s.matrices for s in measured)
        if nbytes:
            found.append((n, seconds * total / nbytes))
    return tuple(found)


def _notes(facts: ModelFacts, pool: int) -> tuple[str, ...]:
    notes = []
    if len(facts.shapes) > 3:
        notes.append(f"{len(facts.shapes) - 3} rarer expert shapes are estimated from the commonest three")
    if pool < POOL_BYTES:
        notes.append("little memory: the pool of experts is small, caches may flatter the rate")
    return tuple(notes)


def _run(facts: ModelFacts | None, control: Control) -> ComputeResult:
    assert facts is not None  # `needs_model`
    if not facts.shapes:
        raise ValueError("the model has no routed experts")
    return probe_compute(facts, control)


def _figure(result: ComputeResult) -> str:
    n = result.best_threads
    best = max((p.bytes_s for p in result.points if p.threads == n), default=0.0)
    return f"{best / 1e9:.1f} GB/s of expert weights with {n} thread{'s' if n > 1 else ''}"


COMPUTE = Probe(
    name="compute",
    title="Expert compute",
    unit="bytes of weights per second",
    method="ggml_mul_mat_id on the CPU device with the model's types and shapes, one token, random experts",
    seconds=3 * 8 * POINT_SECONDS + 5,
    memory_bytes=POOL_BYTES + (64 << 20),
    needs_model=True,
    run=_run,
    figure=_figure,
)
