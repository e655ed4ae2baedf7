"""How fast the model's drive gives the model's own experts: by queue depth, and over ten seconds.

A queue depth of d is d threads with one read outstanding each and a file handle each, which is how the engine
reads. Every read covers one expert matrix at its real place in the file, widened to aligned blocks as the engine
does. Reads only; the places are drawn at random without repetition, so neither the drive's nor a host's cache
helps until all have been read. All depths are measured twice, up and down again, half of the time each: the rate of a
drive that others use as well moves within seconds, and must not pass for an effect of the depth.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autotune.control import Control
from autotune.facts import ModelFacts, ReadRange
from autotune.probes.probe import Probe
from autotune.result import DrivePoint
from engine.direct_file import DirectFile, aligned_buffer, aligned_range, open_direct

DEPTHS = (1, 2, 4, 8, 16, 32)
POINT_SECONDS = 1.0
SUSTAINED_SECONDS = 10.0
LARGEST_READ = 8 << 20
"""Bytes. Larger experts are read in pieces of this, as a queue of 32 whole ones would take too much memory."""
_LOOK_SECONDS = 0.1
COLLAPSE = 0.75
"""A sustained rate that ends below this share of its beginning is reported as a collapse."""

Opener = Callable[[Path], DirectFile]


@dataclass(frozen=True)
class Burst:
    """Reads of one size at one depth for a while. `latencies_ms` is sorted; `marks` are (second, bytes so far)."""

    nbytes: int
    seconds: float
    latencies_ms: tuple[float, ...]
    marks: tuple[tuple[float, int], ...]
    direct: bool

    @property
    def bytes_s(self) -> float:
        """Bytes per second."""
        return self.nbytes / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Sustained:
    """Rate over `seconds`: its mean, the first and the last third. Bytes per second."""

    queue_depth: int
    seconds: float
    bytes_s: float
    first_bytes_s: float
    last_bytes_s: float

    @property
    def collapsed(self) -> bool:
        """Whether the drive slows down when it is kept busy (heat, or a cache that ran out)."""
        return self.last_bytes_s < COLLAPSE * self.first_bytes_s


@dataclass(frozen=True)
class DriveResult:
    """`points` by queue depth for the commonest expert size, then single points for the other sizes."""

    points: tuple[DrivePoint, ...]
    sustained: Sustained | None
    direct: bool
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> DrivePoint:
        """The lowest queue depth that comes within 5 % of the highest rate: more would only add latency."""
        return best_point(self.points)

    def bytes_s_at(self, depth: float) -> float:
        """Bytes per second at a queue depth, interpolated between the measured ones of the commonest size."""
        size = self.points[0].read_bytes
        curve = sorted((p.queue_depth, p.bytes_s) for p in self.points if p.read_bytes == size)
        return interpolate(curve, depth)


def best_point(points: Sequence[DrivePoint]) -> DrivePoint:
    """See `DriveResult.best`; only the commonest size is looked at."""
    curve = [p for p in points if p.read_bytes == points[0].read_bytes]
    highest = max(p.bytes_s for p in curve)
    return min((p for p in curve if p.bytes_s >= 0.95 * highest), key=lambda p: p.queue_depth)


def interpolate(curve: Sequence[tuple[float, float]], x: float) -> float:
    """Piecewise linear through sorted (x, y), constant beyond the ends."""
    if x <= curve[0][0]:
        return curve[0][1]
    for (x0, y0), (x1, y1) in itertools.pairwise(curve):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return curve[-1][1]


@dataclass
class _Team:
    """The threads of one burst and what they share. Appending and `next` are atomic, so it needs no lock."""

    paths: tuple[Path, ...]
    places: Sequence[ReadRange]
    opener: Opener
    control: Control
    seconds: float
    buffer_bytes: int
    turn: itertools.count[int] = field(default_factory=itertools.count)
    done: list[tuple[float, float, int]] = field(default_factory=list)  # ended at, took, bytes
    errors: list[OSError] = field(default_factory=list)
    direct: list[bool] = field(default_factory=list)
    start: float = 0.0

    def work(self, ready: threading.Barrier) -> None:
        """One thread: its own handles and buffer, reads until the time is over."""
        files: dict[int, DirectFile] = {}
        buffer = aligned_buffer(self.buffer_bytes)
        try:
            for index, path in enumerate(self.paths):
                files[index] = self.opener(path)
                self.direct.append(files[index].direct)
            ready.wait()
            self._read(files, memoryview(buffer))
        except OSError as error:
            self.errors.append(error)
            ready.abort()
        except threading.BrokenBarrierError:
            return
        finally:
            for file in files.values():
                file.close()

    def _read(self, files: dict[int, DirectFile], buffer: memoryview) -> None:
        clock, places = self.control.clock, self.places
        end = self.start + self.seconds if self.start else clock() + self.seconds
        while (begin := clock()) < end and not self.control.cancelled() and not self.errors:
            place = places[next(self.turn) % len(places)]
            offset, nbytes = aligned_range(place.offset, min(place.nbytes, LARGEST_READ))
            got = files[place.file].read_into(buffer[: min(nbytes, len(buffer))], offset)
            now = clock()
            self.done.append((now, now - begin, got))


def burst(
    paths: tuple[Path, ...],
    places: Sequence[ReadRange],
    depth: int,
    seconds: float,
    control: Control,
    opener: Opener = open_direct,
) -> Burst:
    """Read `places` with `depth` threads for `seconds`. Raises OSError if a read fails, CancelledError if asked."""
    largest = max(min(p.nbytes, LARGEST_READ) for p in places)
    team = _Team(paths, places, opener, control, seconds, aligned_range(1, largest)[1] + 4096)
    ready = threading.Barrier(depth + 1)
    threads = [threading.Thread(target=team.work, args=(ready,), daemon=True, name="drive-probe") for _ in range(depth)]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
    except threading.BrokenBarrierError:
        pass
    begin = control.clock()
    for thread in threads:
        while thread.is_alive():
            thread.join(_LOOK_SECONDS)
            control.check()  # a cancel does not wait for reads that a slow drive still has in its queue
    if team.errors:
        raise team.errors[0]
    return _summary(team, begin)


def _summary(team: _Team, begin: float) -> Burst:
    done = sorted(team.done)
    if not done:
        return Burst(0, 0.0, (), (), all(team.direct))
    marks, total = [], 0
    for ended, _took, nbytes in done:
        total += nbytes
        marks.append((ended - begin, total))
    latencies = tuple(sorted(took * 1e3 for _ended, took, _nbytes in done))
    return Burst(total, done[-1][0] - begin, latencies, tuple(marks), all(team.direct))


def percentile(ordered: Sequence[float], share: float) -> float:
    """Nearest-rank percentile of sorted values; 0.0 for none."""
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def sustained_of(result: Burst, depth: int) -> Sustained:
    """First and last third of a long burst."""
    third = result.seconds / 3
    first = max((n for t, n in result.marks if t <= third), default=0)
    before_last = max((n for t, n in result.marks if t <= 2 * third), default=0)
    return Sustained(
        depth,
        result.seconds,
        result.bytes_s,
        first / third if third > 0 else 0.0,
        (result.nbytes - before_last) / third if third > 0 else 0.0,
    )


def by_size(ranges: Sequence[ReadRange], seed: int = 0) -> list[list[ReadRange]]:
    """The places of each expert size, commonest size first, each list shuffled."""
    sizes: dict[int, list[ReadRange]] = {}
    for place in ranges:
        sizes.setdefault(place.nbytes, []).append(place)
    for places in sizes.values():
        random.Random(seed).shuffle(places)
    return sorted(sizes.values(), key=len, reverse=True)


def probe_drive(facts: ModelFacts, control: Control, opener: Opener = open_direct) -> DriveResult:
    """Depths 1 to 32 for the commonest expert size, depth 8 for up to two others, then ten seconds at one."""
    sizes = by_size(facts.ranges)
    if not sizes:
        raise ValueError("the model has no routed experts: nothing is read from the drive while answering")
    plan = [(sizes[0], depth) for depth in DEPTHS] + [(other, 8) for other in sizes[1:3]]

    def measure(places: list[ReadRange], depth: int) -> Burst:
        seconds = control.seconds(POINT_SECONDS / 2)
        if seconds < POINT_SECONDS / 2 * control.scale / 2:
            return _NOTHING
        found = burst(facts.paths, places, depth, seconds, control, opener)
        random.Random(depth).shuffle(places)
        return found

    up = [measure(*step) for step in plan]
    points: dict[int, DrivePoint] = {}
    for i in (*reversed(range(len(DEPTHS))), *range(len(DEPTHS), len(plan))):
        both = joined(up[i], measure(*plan[i]))
        if both.nbytes:
            points[i] = _point(both, *plan[i])
            control.report("drive", points[i])
    ordered = tuple(points[i] for i in sorted(points))
    if not ordered:
        raise ValueError("there was no time to read anything")
    sustained = _sustain(facts, sizes[0], ordered, control, opener)
    direct = all(p.direct for p in ordered)
    return DriveResult(ordered, sustained, direct, _notes(direct, sustained, len(plan) - len(ordered)))


_NOTHING = Burst(0, 0.0, (), (), True)


def joined(first: Burst, second: Burst) -> Burst:
    """Two bursts at the same depth as one."""
    if not first.nbytes or not second.nbytes:
        return first if first.nbytes else second
    return Burst(
        first.nbytes + second.nbytes,
        first.seconds + second.seconds,
        tuple(sorted(first.latencies_ms + second.latencies_ms)),
        (*first.marks, *((first.seconds + t, first.nbytes + n) for t, n in second.marks)),
        first.direct and second.direct,
    )


def _point(result: Burst, places: list[ReadRange], depth: int) -> DrivePoint:
    ordered = result.latencies_ms
    return DrivePoint(
        read_bytes=places[0].nbytes,
        queue_depth=depth,
        bytes_s=result.bytes_s,
        p50_ms=percentile(ordered, 0.50),
        p95_ms=percentile(ordered, 0.95),
        p99_ms=percentile(ordered, 0.99),
        direct=result.direct,
    )


def _sustain(
    facts: ModelFacts, places: list[ReadRange], points: Sequence[DrivePoint], control: Control, opener: Opener
) -> Sustained | None:
    seconds = control.seconds(SUSTAINED_SECONDS)
    if seconds < SUSTAINED_SECONDS * control.scale / 2:
        return None
    depth = best_point(points).queue_depth
    return sustained_of(burst(facts.paths, places, depth, seconds, control, opener), depth)


def _notes(direct: bool, sustained: Sustained | None, missing: int) -> tuple[str, ...]:
    notes = []
    if not direct:
        notes.append("direct reads are not possible here: the page cache takes part, the rates are an upper bound")
    if missing:
        notes.append(f"no time for {missing} of the drive's queue depths")
    if sustained is None:
        notes.append("no time to measure the sustained rate")
    elif sustained.collapsed:
        share = sustained.last_bytes_s / sustained.first_bytes_s
        notes.append(f"the drive slows down when kept busy: to {share:.0%} after {sustained.seconds:.0f} s")
    return tuple(notes)


def _run(facts: ModelFacts | None, control: Control) -> DriveResult:
    assert facts is not None  # `needs_model`
    return probe_drive(facts, control)


def _figure(result: DriveResult) -> str:
    best = result.best
    size = best.read_bytes / 2**20
    return f"{best.bytes_s / 1e9:.2f} GB/s at queue depth {best.queue_depth} (reads of {size:.2f} MiB)"


DRIVE = Probe(
    name="drive",
    title="Drive",
    unit="bytes per second",
    method="direct random reads of the model's own expert matrices, one thread per outstanding read",
    seconds=len(DEPTHS) * POINT_SECONDS + 2 * POINT_SECONDS + SUSTAINED_SECONDS + 2,
    memory_bytes=max(DEPTHS) * (LARGEST_READ + 8192),
    needs_model=True,
    run=_run,
    figure=_figure,
)
