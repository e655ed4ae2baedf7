"""The model of the machine: wrong directions here mean that the right candidates are never measured."""

from __future__ import annotations

import pytest

from autotune.facts import ModelFacts
from autotune.hits import HitCurve
from autotune.machine import MachineModel, Observed, Operating, machine_model
from tests.autotune.simulated import FAST_DRIVE, SLOW_DRIVE, drive_points

GIB = 1 << 30
EXPERT_SECONDS = ((1, 0.2), (2, 0.11))


@pytest.fixture
def fast(big_facts: ModelFacts) -> MachineModel:
    return machine_model(big_facts, EXPERT_SECONDS, FAST_DRIVE, 2, 10e9)


@pytest.fixture
def slow(big_facts: ModelFacts) -> MachineModel:
    return machine_model(big_facts, EXPERT_SECONDS, SLOW_DRIVE, 2, 10e9)


def point(cache_gib: float = 4, threads: int = 2, io_threads: int = 8, lookahead: int = 1) -> Operating:
    return Operating(threads, io_threads, lookahead, int(cache_gib * GIB))


def test_a_larger_cache_is_never_slower(fast: MachineModel) -> None:
    speeds = [fast.expect(point(cache_gib=g)).tok_s for g in (0.1, 1, 2, 4, 8, 16)]
    assert speeds == sorted(speeds)


def test_no_setting_is_expected_to_beat_the_roofline(fast: MachineModel, slow: MachineModel) -> None:
    for model in (fast, slow):
        for ahead in range(5):
            for io in (1, 8, 32):
                expected = model.expect(point(lookahead=ahead, io_threads=io))
                assert expected.tok_s <= expected.roofline_tok_s * 1.0001


def test_reading_ahead_pays_where_computing_can_hide_it_and_costs_nothing_on_a_slow_drive(
    fast: MachineModel, slow: MachineModel
) -> None:
    """Guesses give way to demand: a drive that is never idle reads few of them, and none before what is waited for."""
    gain = fast.expect(point(cache_gib=2, lookahead=3)).tok_s / fast.expect(point(cache_gib=2, lookahead=0)).tok_s
    assert gain > 1.08
    assert slow.expect(point(lookahead=3)).tok_s >= slow.expect(point(lookahead=0)).tok_s
    busy, idle = (fast.wasted_bytes(point(lookahead=3), 0.8, share) for share in (0.0, 0.5))
    assert 0 < busy < idle


def test_computing_takes_longer_beside_a_drive_that_writes(fast: MachineModel) -> None:
    """Else the speed of a smaller cache is promised too high: it has more to read beside."""
    part = fast.expect(point(cache_gib=6, lookahead=3))
    assert part.seconds - part.stall_seconds > 1.04 * part.compute_seconds
    assert part.stall_seconds < 0.01 * part.seconds
    assert fast.expect(point(cache_gib=16)).seconds == pytest.approx(fast.compute_seconds(2))


def test_more_threads_than_cores_are_expected_to_hurt(fast: MachineModel) -> None:
    assert fast.expect(point(threads=4)).tok_s < fast.expect(point(threads=2)).tok_s
    assert fast.expect(point(threads=1)).tok_s < fast.expect(point(threads=2)).tok_s


def test_one_read_thread_gets_what_the_drive_gives_one(slow: MachineModel) -> None:
    assert slow.expect(point(io_threads=1)).tok_s < slow.expect(point(io_threads=4)).tok_s


@pytest.mark.parametrize("lookahead", range(5))
@pytest.mark.parametrize(("stall_s", "read"), [(0.15, 285e6), (0.02, 60e6), (0.17, 900e6), (0.001, 200e6), (0.0, 0.0)])
def test_calibrating_reproduces_the_measured_run(
    fast: MachineModel, slow: MachineModel, lookahead: int, stall_s: float, read: float
) -> None:
    at = point(lookahead=lookahead)
    for uncalibrated in (fast, slow):
        model = uncalibrated.calibrated(at, Observed(0.25, stall_s, read))
        # 900 MB in 0.25 s is more than the slower drive's probe can be wrong by.
        assert model.expect(at).seconds == pytest.approx(0.25, rel=0.06 if read > 285e6 else 0.01)
        assert model.expect(point(cache_gib=6, lookahead=lookahead)).tok_s >= model.expect(at).tok_s


@pytest.mark.parametrize("lookahead", range(5))
@pytest.mark.parametrize("cache_gib", [1, 4, 8])
def test_a_run_that_is_as_expected_teaches_nothing(fast: MachineModel, cache_gib: float, lookahead: int) -> None:
    """Else the model wanders off with every arm that confirms it."""
    at = point(cache_gib=cache_gib, lookahead=lookahead)
    expected = fast.expect(at)
    seen = Observed(expected.seconds, expected.stall_seconds, expected.read_bytes)
    again = fast.calibrated(at, seen)
    for other in (point(), point(cache_gib=2, lookahead=0), point(threads=1, io_threads=1), at):
        assert again.expect(other).seconds == pytest.approx(fast.expect(other).seconds, rel=0.02)


def test_a_drive_that_a_run_shows_to_be_slower_than_its_probe_is_believed_up_to_a_factor(fast: MachineModel) -> None:
    at = point(lookahead=3)
    for stall_s in (0.12, 0.2):
        seen = Observed(0.3, stall_s, 200e6)
        assert 0.5 <= fast.calibrated(at, seen).drive_bytes_s(8) / fast.drive_bytes_s(8) < 1.0


def test_a_model_that_fits_needs_no_drive(big_facts: ModelFacts) -> None:
    model = machine_model(big_facts, EXPERT_SECONDS, (), 2, None)
    expected = model.expect(point(cache_gib=16))
    assert expected.hit_rate == pytest.approx(1.0)
    assert expected.read_seconds == 0.0


def test_without_any_probe_the_model_still_answers(big_facts: ModelFacts) -> None:
    assert machine_model(big_facts, None, (), 2, None).expect(point()).tok_s > 0


def test_a_queue_depth_measured_while_the_machine_stood_still_does_not_count(big_facts: ModelFacts) -> None:
    disturbed = drive_points({1: 1.6e9, 2: 0.01e9, 4: 2.1e9})
    assert machine_model(big_facts, EXPERT_SECONDS, disturbed, 2, None).drive_bytes_s(2) > 1.5e9


def test_a_hit_curve_passes_through_the_measured_point_and_keeps_rising() -> None:
    curve = HitCurve().through(0.25, 0.6)
    assert curve.at(0.25) == pytest.approx(0.6)
    rates = [curve.at(s / 20) for s in range(21)]
    assert rates == sorted(rates)
    assert (rates[0], rates[-1]) == (0.0, 1.0)


def test_a_census_gives_the_share_of_the_most_used() -> None:
    curve = HitCurve.from_uses([[60, 20, 10, 10], [10, 10, 20, 60]])
    assert curve.at(0.25) == pytest.approx(0.6)
    assert curve.at(0.5) == pytest.approx(0.8)
    assert HitCurve.from_uses([[0, 0]]) == HitCurve()
