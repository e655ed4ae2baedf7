"""Threads are as many as there are cores for this program; more would make every token slower."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.processors import available_cores


@pytest.fixture
def four_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight processors, two to a core, all allowed."""
    for cpu in range(8):
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(8)), raising=False)
    return tmp_path


def cores(sysfs: Path, v2: str | None = None, v1: tuple[str, str] | None = None) -> int:
    limit, old = sysfs / "cpu.max", sysfs / "v1"
    if v2 is not None:
        limit.write_text(v2)
    if v1 is not None:
        old.mkdir()
        (old / "cpu.cfs_quota_us").write_text(v1[0])
        (old / "cpu.cfs_period_us").write_text(v1[1])
    return available_cores(sysfs, limit, old)


def test_two_hyper_threads_count_as_one_core(four_cores: Path) -> None:
    assert cores(four_cores) == 4


def test_a_process_bound_to_some_processors_uses_only_their_cores(
    four_cores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 4, 1}, raising=False)
    assert cores(four_cores) == 2


@pytest.mark.parametrize(
    ("limit", "expected"), [("200000 100000", 2), ("150000 100000", 2), ("max 100000", 4), ("5", 4), ("1000 100000", 1)]
)
def test_a_containers_processor_quota_is_kept(four_cores: Path, limit: str, expected: int) -> None:
    assert cores(four_cores, v2=limit) == expected


@pytest.mark.parametrize(("quota", "expected"), [("300000", 3), ("-1", 4)])
def test_the_quota_of_an_older_container_is_kept_too(four_cores: Path, quota: str, expected: int) -> None:
    assert cores(four_cores, v1=(quota, "100000")) == expected


def test_there_is_always_a_core() -> None:
    assert available_cores() >= 1
