"""Threads are as many as there are fast cores for this program; more would make every token slower."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Collection
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from engine import processors
from engine.processors import Core, available_cores, compute_threads, container_quota, efficient_cores
from engine.processors.choice import saving
from engine.processors.platforms import Linux, MacOs, Windows, parse_list, parse_windows_cores

UNLIMITED = 1024.0


class Machine(Linux):
    """Linux on a made-up sysfs tree, with processors that the process may use."""

    def __init__(self, root: Path, allowed: Collection[int] | None = None) -> None:
        super().__init__(root)
        self.root = root
        self._allowed = allowed

    def allowed(self) -> Collection[int] | None:
        return self._allowed

    def put(self, path: str, content: object) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{content}\n")

    def core(self, *cpus: int, capacity: int | None = None, clock_khz: int | None = None) -> None:
        """A core with these logical processors."""
        for cpu in cpus:
            folder = f"system/cpu/cpu{cpu}"
            self.put(f"{folder}/topology/thread_siblings_list", ",".join(map(str, cpus)))
            if capacity is not None:
                self.put(f"{folder}/cpu_capacity", capacity)
            if clock_khz is not None:
                self.put(f"{folder}/cpufreq/cpuinfo_max_freq", clock_khz)


def desktop(root: Path) -> Machine:
    """Four cores, two hyper-threads each."""
    machine = Machine(root)
    for cpu in range(4):
        machine.core(cpu, cpu + 4)
    machine.put("system/cpu/cpufreq/boost", 1)  # no processor, whatever its name begins with
    return machine


def intel_hybrid(root: Path, fast: int = 6, efficient: int = 8) -> Machine:
    machine = Machine(root)
    for core in range(fast):
        machine.core(2 * core, 2 * core + 1, clock_khz=5_000_000)
    for core in range(efficient):
        machine.core(2 * fast + core, clock_khz=3_800_000)
    machine.put("cpu_core/cpus", f"0-{2 * fast - 1}")
    machine.put("cpu_atom/cpus", f"{2 * fast}-{2 * fast + efficient - 1}")
    return machine


def phone(root: Path) -> Machine:
    """One prime core, three big and four little ones."""
    machine = Machine(root)
    for cpu, capacity in enumerate([325] * 4 + [870] * 3 + [1024]):
        machine.core(cpu, capacity=capacity)
    return machine


def compact_amd(root: Path) -> Machine:
    """Cores that differ in their top clock alone; favoured ones differ a little."""
    machine = Machine(root)
    for core, clock in enumerate([5_100_000, 5_000_000, 4_900_000, 5_000_000] + [3_300_000] * 8):
        machine.core(core, core + 12, clock_khz=clock)
    return machine


@pytest.mark.parametrize(
    ("build", "fast", "efficient"),
    [(desktop, 4, 0), (intel_hybrid, 6, 8), (phone, 4, 4), (compact_amd, 4, 8)],
    ids=["desktop", "intel hybrid", "phone", "compact amd"],
)
def test_fast_cores_compute_one_thread_each(
    tmp_path: Path, build: Callable[[Path], Machine], fast: int, efficient: int
) -> None:
    machine = build(tmp_path)
    assert available_cores(machine, UNLIMITED) == fast
    assert efficient_cores(machine) == efficient


def test_one_fast_core_beside_efficient_ones_does_not_compute_alone(tmp_path: Path) -> None:
    assert available_cores(intel_hybrid(tmp_path, fast=1, efficient=4), UNLIMITED) == 5


@pytest.mark.parametrize(
    ("allowed", "expected"), [({0, 4, 1}, 2), ({4}, 1), (set(range(8)), 4)], ids=["two", "a hyper-thread", "all"]
)
def test_a_process_bound_to_some_processors_uses_only_their_cores(
    tmp_path: Path, allowed: set[int], expected: int
) -> None:
    machine = desktop(tmp_path)
    machine._allowed = allowed
    assert available_cores(machine, UNLIMITED) == expected


def test_a_process_bound_to_efficient_cores_uses_those(tmp_path: Path) -> None:
    machine = intel_hybrid(tmp_path)
    machine._allowed = set(range(12, 20))
    assert available_cores(machine, UNLIMITED) == 8


@pytest.mark.parametrize(("quota", "expected"), [(2.0, 2), (1.5, 2), (0.01, 1), (100.0, 4)])
def test_a_containers_processor_quota_is_kept(tmp_path: Path, quota: float, expected: int) -> None:
    assert available_cores(desktop(tmp_path), quota) == expected


@pytest.mark.parametrize(
    ("limit", "expected"), [("200000 100000", 2.0), ("150000 100000", 1.5), ("max 100000", None), ("5", None)]
)
def test_quotas_of_version_2(tmp_path: Path, limit: str, expected: float | None) -> None:
    (tmp_path / "cpu.max").write_text(limit)
    assert container_quota(tmp_path / "cpu.max", tmp_path / "none") == expected


@pytest.mark.parametrize(("quota", "expected"), [("300000", 3.0), ("-1", None)])
def test_quotas_of_version_1(tmp_path: Path, quota: str, expected: float | None) -> None:
    (tmp_path / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu.cfs_period_us").write_text("100000")
    assert container_quota(tmp_path / "none", tmp_path) == expected


def test_a_system_that_says_nothing_still_computes(tmp_path: Path) -> None:
    assert available_cores(Machine(tmp_path / "nothing"), UNLIMITED) == (psutil.cpu_count(logical=False) or 1)


def test_this_machine_computes_on_the_cores_it_has() -> None:
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


def windows_core(mask: int, kind: int, group: int = 0) -> bytes:
    record = struct.pack("<BB20xH", 1, kind, 1) + struct.pack("<QH6x", mask, group)
    return struct.pack("<II", 0, 8 + len(record)) + record


def test_windows_tells_the_kinds_by_efficiency_class() -> None:
    records = b"".join(
        [windows_core(0b11, 1), windows_core(0b1100, 1), *(windows_core(1 << cpu, 0) for cpu in range(4, 8))]
    )
    cores = parse_windows_cores(records + windows_core(1, 1, group=1))
    assert [sorted(core.cpus) for core in cores] == [[0, 1], [2, 3], [4], [5], [6], [7], [64]]
    assert [core.speed > 0.9 for core in cores] == [True, True, False, False, False, False, True]
    assert parse_windows_cores(b"") == ()

    class Pc(Windows):
        def _information(self) -> bytes:
            return records

        def allowed(self) -> Collection[int] | None:
            return None

    assert (available_cores(Pc(), UNLIMITED), efficient_cores(Pc())) == (2, 4)


@pytest.mark.parametrize(("levels", "expected"), [({0: 8, 1: 4}, (8, 4)), ({0: 4, 1: 4}, (4, 4))], ids=["pro", "plain"])
def test_macos_tells_the_kinds_by_performance_level(levels: dict[int, int], expected: tuple[int, int]) -> None:
    class Mac(MacOs):
        def _sysctl(self, name: str) -> str:
            return str(levels[int(name.removeprefix("hw.perflevel")[0])])

    assert (available_cores(Mac(), UNLIMITED), efficient_cores(Mac())) == expected


def test_kernel_lists() -> None:
    assert parse_list("0-3,8,10-11\n") == {0, 1, 2, 3, 8, 10, 11}
    assert parse_list("") == frozenset()


@pytest.mark.parametrize(("cores", "expected"), [(1, 1), (2, 2), (3, 2), (4, 2), (6, 3), (16, 8)])
def test_on_battery_half_of_the_cores_compute(cores: int, expected: int) -> None:
    assert saving(cores) == expected


def test_threads_follow_the_plug_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "available_cores", lambda: 8)
    for plugged, expected in ((False, 4), (True, 8), (None, 8)):  # None: the system does not know
        battery = SimpleNamespace(power_plugged=plugged)
        monkeypatch.setattr(psutil, "sensors_battery", lambda found=battery: found, raising=False)
        assert compute_threads(save_battery=True) == expected
        assert compute_threads(save_battery=False) == 8
    monkeypatch.setattr(psutil, "sensors_battery", lambda: None, raising=False)
    assert compute_threads(save_battery=True) == 8

    def no_sys() -> None:
        raise FileNotFoundError(2, "No such file or directory", "/sys/class/power_supply")

    monkeypatch.setattr(psutil, "sensors_battery", no_sys, raising=False)
    assert compute_threads(save_battery=True) == 8


def test_a_core_is_one_whatever_its_number_of_hyper_threads(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.core(0, 1, 2, 3)
    assert machine.cores() == (Core(frozenset({0, 1, 2, 3})),)
