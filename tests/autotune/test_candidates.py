"""What is worth measuring: a missing arm is speed nobody finds, a silly one is a user's time."""

from __future__ import annotations

import pytest

from autotune.candidates import Candidate, candidates, name_of
from autotune.facts import ModelFacts
from autotune.machine import machine_model
from autotune.result import DrivePoint
from engine.settings import EngineSettings
from tests.autotune.simulated import FAST_DRIVE, SLOW_DRIVE

BAD = EngineSettings(io_threads=1, lookahead=0, threads=1)


def chosen(
    facts: ModelFacts,
    base: EngineSettings,
    drive: tuple[DrivePoint, ...] = FAST_DRIVE,
    compute: tuple[tuple[int, float], ...] = ((1, 0.2), (2, 0.11)),
    limit: int = 8,
) -> tuple[Candidate, ...]:
    threads = compute[-1][0]
    model = machine_model(facts, compute, drive, threads, None)
    return candidates(model, base, threads=threads, cache_bytes=4 << 30, limit=limit)


@pytest.mark.parametrize("base", [EngineSettings(), BAD])
@pytest.mark.parametrize("limit", [1, 2, 3, 8])
def test_the_defaults_come_first_and_the_limit_holds(big_facts: ModelFacts, base: EngineSettings, limit: int) -> None:
    found = chosen(big_facts, base, limit=limit)
    assert found[0].changes == {}
    assert len(found) == limit
    assert len({c.name for c in found}) == limit


def test_with_bad_settings_the_programs_own_are_the_first_challenger(big_facts: ModelFacts) -> None:
    assert chosen(big_facts, BAD, limit=2)[1].changes == {"threads": None, "io_threads": 8, "lookahead": 1}


def test_on_a_busy_machine_where_two_threads_crawl_they_are_not_tried(big_facts: ModelFacts) -> None:
    found = chosen(big_facts, EngineSettings(threads=1), compute=((1, 0.2), (2, 9.0)))
    assert all(c.changes.get("threads", 1) == 1 for c in found)


def test_every_arm_makes_valid_settings(big_facts: ModelFacts) -> None:
    for candidate in chosen(big_facts, BAD):
        EngineSettings.model_validate(BAD.model_dump() | dict(candidate.changes))


def test_on_a_slow_drive_no_far_lookahead_leads(big_facts: ModelFacts) -> None:
    found = chosen(big_facts, EngineSettings(), SLOW_DRIVE, limit=4)
    assert all(c.changes.get("lookahead", 1) <= 1 for c in found)


def test_one_core_is_offered_one_thread(big_facts: ModelFacts) -> None:
    found = chosen(big_facts, EngineSettings(), compute=((1, 0.2),))
    assert all(c.changes.get("threads") in (None, 1) for c in found)


def test_an_arm_is_named_in_words() -> None:
    assert name_of({}) == "defaults"
    assert name_of({"lookahead": 2, "io_threads": 1, "threads": None}) == (
        "automatic compute threads, 1 read thread, lookahead 2"
    )
