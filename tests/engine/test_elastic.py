"""The size of an elastic cache over made-up histories of memory: other programs come, go, and come again."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from engine.elastic import CacheBounds, Decision, ElasticSize, MemorySample

MIB, GIB = 1 << 20, 1 << 30
TOTAL, FIXED, HEADROOM = 8 * GIB, 1 * GIB, 512 * MIB
LEAST, EXPERTS = 100 * MIB, 16 * GIB
ROOMY = TOTAL - FIXED - HEADROOM  # what the cache has when nobody else takes memory
READ_RATE = 2 * GIB  # bytes a second that fill the cache

Others = Callable[[float], float]


@dataclass
class World:
    """A machine on which others hold `others(t)` bytes; the cache fills at the drive's rate and shrinks at once."""

    others: Others
    most: int = EXPERTS
    headroom: int = HEADROOM
    pending: Callable[[float], int] = lambda _t: 0
    held: int = 0
    time: float = 0.0
    sizes: list[tuple[float, Decision]] = field(default_factory=list)
    least_free: float = TOTAL

    def __post_init__(self) -> None:
        bounds = CacheBounds(min(LEAST, self.most), self.most, self.headroom)
        self.size = ElasticSize(bounds, min(ROOMY, self.most))
        self.sizes.append((0.0, self.size.decision))

    def run(self, until: float) -> None:
        """Sample, decide and resize until then."""
        while self.time < until:
            free = TOTAL - FIXED - self.others(self.time) - self.held
            self.least_free = min(self.least_free, free)
            sample = MemorySample(self.time, max(0, round(free)), self.held, self.pending(self.time))
            decision = self.size.decide(sample)
            if decision.cache_bytes != self.sizes[-1][1].cache_bytes:
                self.sizes.append((self.time, decision))
            wait = self.size.next_look_s(sample)
            self.held = min(decision.cache_bytes, self.held + round(wait * READ_RATE))
            self.time += wait

    @property
    def cache(self) -> int:
        return self.size.decision.cache_bytes

    @property
    def shrinks(self) -> int:
        """How often it began to shrink: one that goes on within two seconds is the same."""
        times = [time for time, decision in self.sizes if decision.reason == "memory is short"]
        return sum(1 for before, now in zip([float("-inf"), *times], times, strict=False) if now - before > 2)

    def changes(self, since: float = 0.0) -> list[tuple[float, Decision]]:
        return [change for change in self.sizes[1:] if change[0] >= since]


def step(at: float, nbytes: float, until: float = float("inf")) -> Others:
    return lambda t: nbytes if at <= t < until else 0.0


def visits(away: float, stays: float, end: float = float("inf")) -> Others:
    """Again and again, after `away` seconds, a program touches 2 GiB at 3 GiB/s and gives it back `stays` later."""

    def others(t: float) -> float:
        since = t % (away + stays) - away
        return min(2 * GIB, since * 3 * GIB) if since > 0 and t < end else 0.0

    return others


def filled(others: Others, **changes: object) -> World:
    world = World(others, **changes)  # type: ignore[arg-type]
    world.held = world.cache
    return world


def test_nothing_happens_while_nothing_happens() -> None:
    world = World(lambda _t: 0.0)
    world.run(120)
    assert world.changes() == []
    assert world.held == ROOMY


def test_noise_of_counting_changes_nothing() -> None:
    world = filled(lambda t: 40 * MIB * (round(t * 1000) % 7) / 7)
    world.run(60)
    assert world.changes() == []


def test_a_sudden_fall_is_answered_within_a_second_and_leaves_the_reserve() -> None:
    world = filled(step(5.0, 2 * GIB))
    world.run(6.0)
    first, decision = world.changes()[0]
    assert first - 5.0 < 0.2
    assert decision.reason == "memory is short"
    assert world.cache <= ROOMY - 2 * GIB
    world.run(9.0)
    assert TOTAL - FIXED - 2 * GIB - world.held >= HEADROOM


@pytest.mark.parametrize("rate", [0.5 * GIB, 2 * GIB, 4 * GIB])
def test_a_program_that_takes_memory_as_fast_as_it_can_never_meets_the_end_of_it(rate: float) -> None:
    world = filled(lambda t: min(2 * GIB, max(0.0, t - 5) * rate))
    world.run(12)
    assert world.least_free > 0
    assert ROOMY - 4.5 * GIB < world.cache <= ROOMY - 2 * GIB + HEADROOM // 8


def test_a_slow_fall_is_followed_without_giving_more_than_it_takes() -> None:
    world = filled(lambda t: min(3 * GIB, t * 20 * MIB))
    world.run(200)
    assert world.least_free >= HEADROOM - HEADROOM // 4
    assert abs(world.cache - (ROOMY - 3 * GIB)) <= HEADROOM // 8
    assert all(decision.reason == "memory is short" for _, decision in world.changes())


def test_growing_waits_then_takes_half_of_what_is_free_at_a_time() -> None:
    world = filled(step(5.0, 2 * GIB, until=20.0))
    world.run(20.0)
    low = world.cache
    world.run(29.0)
    assert world.cache == low
    world.run(40.0)
    grown = world.changes(since=20.0)
    assert grown[0][0] - 20.0 >= 10.0
    assert grown[0][1].cache_bytes - low <= (ROOMY - low) // 2
    assert all(b[0] - a[0] >= 1.0 for a, b in itertools.pairwise(grown))
    assert {decision.reason for _, decision in grown} == {"memory is free"}
    assert ROOMY - world.cache <= HEADROOM // 8


def test_a_neighbour_that_comes_every_few_seconds_shrinks_the_cache_once() -> None:
    world = filled(visits(away=3, stays=3))
    world.run(300)
    assert world.shrinks == 1
    assert all(time < 20 for time, _ in world.changes())
    assert world.least_free > 0


@pytest.mark.parametrize("period", [25.0, 40.0, 50.0])
def test_a_neighbour_that_comes_every_minute_or_so_does_not_make_the_cache_swing(period: float) -> None:
    world = filled(visits(period / 2, period / 2))
    world.run(20 * period)
    assert world.shrinks <= 7  # of 20 visits
    assert world.least_free > 0


def test_a_neighbour_that_stays_away_long_enough_is_made_use_of() -> None:
    world = filled(visits(away=45, stays=45))
    world.run(20 * 90 + 40)
    assert world.shrinks == 20
    assert world.cache >= ROOMY - HEADROOM
    assert world.least_free > 0


def test_patience_lost_to_a_restless_neighbour_comes_back() -> None:
    def others(t: float) -> float:
        return visits(15, 15, end=300)(t) + step(1500, 2 * GIB, until=1520)(t)

    world = filled(others)
    world.run(1500)
    assert world.cache >= ROOMY - HEADROOM // 8
    world.run(1545)
    assert world.cache >= ROOMY - HEADROOM  # ten seconds of calm were enough again


def test_the_cache_never_goes_below_the_experts_of_one_layer() -> None:
    world = filled(step(5.0, 20 * GIB))
    world.run(30)
    assert world.cache == LEAST
    assert all(decision.cache_bytes >= LEAST for _, decision in world.sizes)


def test_a_given_size_is_the_most_it_ever_is() -> None:
    world = filled(step(5.0, 5 * GIB, until=20.0), most=3 * GIB)
    world.run(18)
    assert world.cache < 2 * GIB
    world.run(60)
    assert world.cache == 3 * GIB
    assert max(decision.cache_bytes for _, decision in world.sizes) == 3 * GIB


def test_a_size_smaller_than_one_layers_experts_is_kept_if_somebody_wants_it() -> None:
    world = filled(lambda _t: 0.0, most=10 * MIB)
    world.run(30)
    assert world.cache == 10 * MIB


def test_what_somebody_asks_for_is_done_at_once_as_far_as_memory_goes() -> None:
    world = filled(lambda _t: 0.0, most=1 * GIB)
    world.run(5)
    world.size.ask(CacheBounds(LEAST, EXPERTS, HEADROOM))
    world.run(5.6)
    assert world.cache == ROOMY
    assert world.size.decision.reason == "asked for"
    world.size.ask(CacheBounds(LEAST, EXPERTS, 2 * GIB))
    world.run(6.2)
    assert world.cache == TOTAL - FIXED - 2 * GIB


def test_work_buffers_not_touched_yet_are_kept_free_and_touching_them_changes_nothing() -> None:
    def touched(t: float) -> int:
        return 600 * MIB if t >= 20 else 0

    world = World(lambda t: float(touched(t)), pending=lambda t: 600 * MIB - touched(t))
    world.run(15)
    assert world.cache == ROOMY - 600 * MIB
    world.run(60)
    assert len(world.changes()) == 1


def test_samples_are_frequent_only_while_memory_could_run_out_in_between() -> None:
    size = ElasticSize(CacheBounds(LEAST, EXPERTS, HEADROOM), ROOMY)
    assert size.next_look_s(MemorySample(0.0, HEADROOM, ROOMY)) == 0.05
    assert size.next_look_s(MemorySample(0.0, 8 * GIB, 0)) == 0.5
    assert 0.05 < size.next_look_s(MemorySample(0.0, 2 * GIB, 0)) < 0.5


def test_a_clock_that_stands_still_is_no_division_by_zero() -> None:
    size = ElasticSize(CacheBounds(LEAST, EXPERTS, HEADROOM), ROOMY)
    for available in (HEADROOM, HEADROOM - 200 * MIB):
        decision = size.decide(MemorySample(1.0, available, ROOMY))
    assert decision.cache_bytes == ROOMY - 200 * MIB
