"""The drive probe: its figures decide how experts are read, so they must be those of the drive and not of a cache."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.control import CancelledError, Control
from autotune.facts import ModelFacts, ReadRange
from autotune.probes.drive import (
    DEPTHS,
    Burst,
    DriveResult,
    best_point,
    burst,
    by_size,
    interpolate,
    joined,
    percentile,
    probe_drive,
    sustained_of,
)
from engine.direct_file import aligned_buffer, aligned_range, open_direct
from tests.autotune.simulated import FAST_DRIVE, drive_points


class StubDrive:
    """A drive that gives `bytes_s` in all, whatever the queue, and delays every read by `latency_s`."""

    direct = True
    size = 1 << 30

    def __init__(self, bytes_s: float, latency_s: float, lock: threading.Lock) -> None:
        self._bytes_s, self._latency_s, self._lock = bytes_s, latency_s, lock

    def read_into(self, buffer: memoryview, offset: int) -> int:
        assert offset % 4096 == 0
        assert len(buffer) % 4096 == 0
        time.sleep(self._latency_s)
        with self._lock:
            time.sleep(len(buffer) / self._bytes_s)
        return len(buffer)

    def close(self) -> None: ...


def stub(bytes_s: float, latency_s: float) -> StubDrive:
    return StubDrive(bytes_s, latency_s, threading.Lock())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weights.bin"
    path.write_bytes(bytes(range(256)) * 4096)
    return path


def test_a_read_gives_the_files_own_bytes_from_any_aligned_place(file: Path) -> None:
    opened, whole = open_direct(file), file.read_bytes()
    try:
        buffer = memoryview(aligned_buffer(3 * 4096))
        for offset in (0, 4096, 512 * 1024):
            assert opened.read_into(buffer[: 2 * 4096], offset) == 2 * 4096
            assert bytes(buffer[: 2 * 4096]) == whole[offset : offset + 2 * 4096]
        assert opened.size == len(whole)
    finally:
        opened.close()


def test_a_range_is_widened_to_whole_blocks_that_cover_it() -> None:
    for offset in (0, 1, 4095, 4096, 5000):
        for nbytes in (1, 4096, 4097, 884736):
            begin, length = aligned_range(offset, nbytes)
            assert begin % 4096 == length % 4096 == 0
            assert begin <= offset
            assert begin + length >= offset + nbytes
            assert length < nbytes + 2 * 4096


def test_a_slow_drive_is_measured_as_slow(big_facts: ModelFacts) -> None:
    lock = threading.Lock()
    places = [ReadRange(0, 65536 * i, 65536) for i in range(256)]
    found = burst(big_facts.paths, places, 4, 0.4, Control(), lambda path: StubDrive(20e6, 0.0, lock))
    assert 1e6 < found.bytes_s <= 1.1 * 20e6


def test_waiting_time_is_hidden_by_depth_and_shows_in_the_curve(big_facts: ModelFacts) -> None:
    lock = threading.Lock()
    places = [ReadRange(0, 65536 * i, 65536) for i in range(256)]
    rates = [
        burst(big_facts.paths, places, depth, 0.3, Control(), lambda path: StubDrive(1e9, 0.01, lock)).bytes_s
        for depth in (1, 8)
    ]
    assert rates[1] > 1.5 * rates[0]


def test_a_whole_probe_covers_every_depth_and_tells_each_as_it_comes(big_facts: ModelFacts) -> None:
    lock, told = threading.Lock(), []
    control = Control(scale=0.03, report=lambda kind, value: told.append(value))
    found = probe_drive(big_facts, control, lambda path: StubDrive(1e9, 0.0, lock))
    assert [p.queue_depth for p in found.points] == [1, 2, 4, 8, 16, 32]
    assert sorted(told, key=lambda p: p.queue_depth) == list(found.points)
    assert all(p.p50_ms <= p.p95_ms <= p.p99_ms for p in found.points)
    assert found.sustained is not None


def test_cancelling_ends_a_long_measurement_at_once(big_facts: ModelFacts) -> None:
    lock, begin = threading.Lock(), time.perf_counter()
    control = Control(cancelled=lambda: time.perf_counter() - begin > 0.2)
    with pytest.raises(CancelledError):
        probe_drive(big_facts, control, lambda path: StubDrive(1e9, 0.0, lock))
    assert time.perf_counter() - begin < 2.0


def test_cancelling_does_not_wait_for_a_drive_that_takes_seconds_for_a_read(big_facts: ModelFacts) -> None:
    lock, begin = threading.Lock(), time.perf_counter()
    control = Control(cancelled=lambda: time.perf_counter() - begin > 0.2)
    before = set(threading.enumerate())
    with pytest.raises(CancelledError):
        burst(big_facts.paths, big_facts.ranges, 4, 5.0, control, lambda path: StubDrive(1e12, 0.8, lock))
    assert time.perf_counter() - begin < 0.7
    for thread in set(threading.enumerate()) - before:
        thread.join(5.0)  # each ends by itself with the read it has
        assert not thread.is_alive()


def test_a_read_that_fails_is_told_and_leaves_no_thread_behind(big_facts: ModelFacts) -> None:
    class Broken(StubDrive):
        def read_into(self, buffer: memoryview, offset: int) -> int:
            raise OSError(5, "Input/output error")

    before = threading.active_count()
    with pytest.raises(OSError, match="Input/output"):
        burst(big_facts.paths, big_facts.ranges, 8, 5.0, Control(), lambda path: Broken(1e9, 0, threading.Lock()))
    assert threading.active_count() == before


def test_a_file_system_without_direct_reads_is_measured_and_said_so(
    file: Path, big_facts: ModelFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.direct_file.PosixFile._open_direct", lambda self, path: -1)
    monkeypatch.setattr("sys.platform", "linux")
    facts = replace(big_facts, paths=(file,), ranges=tuple(ReadRange(0, 8192 * i, 8192) for i in range(100)))
    found = probe_drive(facts, Control(scale=0.01))
    assert not found.direct
    assert any("upper bound" in note for note in found.notes)


def test_a_model_without_experts_has_nothing_to_measure(big_facts: ModelFacts) -> None:
    with pytest.raises(ValueError, match="no routed experts"):
        probe_drive(replace(big_facts, ranges=()), Control())


def test_a_drive_that_slows_down_when_busy_is_noticed() -> None:
    marks = tuple((i / 10, int(1e8 * (i if i <= 40 else 40 + (i - 40) * 0.3))) for i in range(1, 101))
    found = sustained_of(Burst(marks[-1][1], 10.0, (), marks, True), 8)
    assert found.collapsed
    assert found.last_bytes_s == pytest.approx(0.3e9, rel=0.05)


def test_a_drive_that_becomes_slower_meanwhile_does_not_pass_for_one_that_dislikes_deep_queues(
    big_facts: ModelFacts,
) -> None:
    """The first half of the reading at twice the rate: each depth has its share of both. Time is a number here."""
    now, lock, opened = [1.0], threading.Lock(), itertools.count(1)
    first_half = sum(DEPTHS)  # a handle for each thread of each depth

    class Timed(StubDrive):
        def read_into(self, buffer: memoryview, offset: int) -> int:
            with lock:
                now[0] += len(buffer) / self._bytes_s
            return len(buffer)

    def opener(path: Path) -> StubDrive:
        return Timed(2e9 if next(opened) <= first_half else 1e9, 0.0, lock)

    found = probe_drive(big_facts, Control(clock=lambda: now[0], scale=0.1), opener)
    rates = [p.bytes_s for p in found.points]
    assert len(rates) == 6
    assert min(rates) > 0.7 * max(rates)


def test_two_bursts_are_one() -> None:
    one, two = Burst(100, 1.0, (1.0, 3.0), ((1.0, 100),), True), Burst(300, 1.0, (2.0,), ((1.0, 300),), False)
    assert joined(one, two) == Burst(400, 2.0, (1.0, 2.0, 3.0), ((1.0, 100), (2.0, 400)), False)
    assert joined(one, Burst(0, 0.0, (), (), True)) == one


def test_the_best_depth_is_the_lowest_that_comes_close_to_the_highest_rate() -> None:
    points = drive_points({1: 1.0e9, 2: 1.9e9, 4: 1.96e9, 8: 2.0e9, 16: 1.5e9})
    assert best_point(points).queue_depth == 2
    assert DriveResult(FAST_DRIVE, None, True).bytes_s_at(3) == pytest.approx(2.05e9)


def test_places_are_grouped_by_size_and_not_read_in_order() -> None:
    ranges = [ReadRange(0, i * 100, 100) for i in range(50)] + [ReadRange(0, 9000 + i, 200) for i in range(5)]
    small, large = by_size(ranges)
    assert (len(small), len(large)) == (50, 5)
    assert small != ranges[:50]


def test_percentiles_and_interpolation_at_their_ends() -> None:
    assert percentile([], 0.5) == 0.0
    assert percentile([1, 2, 3, 4], 0.99) == 4
    assert interpolate([(1, 10), (3, 30)], 0) == 10
    assert interpolate([(1, 10), (3, 30)], 2) == 20
    assert interpolate([(1, 10), (3, 30)], 9) == 30
