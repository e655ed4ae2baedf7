"""Probes that ask the system: what they misread would size everything wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autotune.control import CancelledError, Control
from autotune.facts import facts_of
from autotune.ggml import CPU, ggml
from autotune.probes import CORES, PROBES, Probe, read, run_probes
from autotune.probes.bandwidth import probe_bandwidth
from autotune.probes.compute import ComputeResult, probe_compute, thread_counts
from autotune.probes.cores import CoresResult, probe_cores
from autotune.probes.gpu import NOT_USED, probe_gpus
from autotune.probes.memory import probe_memory
from autotune.probes.volume import block_device, mount_of, probe_volume
from engine.gguf import open_model
from tests.models import Recipe

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /mnt/models rw - nfs4 server:/models rw
31 22 0:41 / /mnt/my\\040disk rw - fuseblk /dev/sdb1 rw
32 22 0:42 / /tmp rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("device", "path", "expected"),
    [
        ("254:0", "/srv/model.gguf", ("ext4", "/dev/vda")),
        ("0:40", "/mnt/models/model.gguf", ("nfs4", "server:/models")),
        ("0:99", "/mnt/my disk/model.gguf", ("fuseblk", "/dev/sdb1")),
        ("0:42", "/tmp/model.gguf", ("tmpfs", "tmpfs")),
    ],
)
def test_the_mount_that_holds_a_file_is_found(device: str, path: str, expected: tuple[str, str]) -> None:
    assert mount_of(device, Path(path), MOUNTS) == expected


def test_the_drive_behind_a_partition_is_found(tmp_path: Path) -> None:
    (tmp_path / "nvme0n1" / "queue").mkdir(parents=True)
    (tmp_path / "nvme0n1" / "nvme0n1p2").mkdir()
    assert block_device(tmp_path / "missing", tmp_path / "nvme0n1" / "nvme0n1p2") == tmp_path / "nvme0n1"
    assert block_device(tmp_path / "missing") is None


def test_the_volume_of_a_real_file_is_described(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(8192))
    found = probe_volume(path)
    assert found.kind in {"ssd", "hard disk", "memory", "network", "removable", "unknown"}
    assert found.file_system


def test_this_machines_processor_is_described() -> None:
    found = probe_cores()
    assert 1 <= found.usable_cores <= found.physical
    assert found.performance + found.efficiency == found.physical
    assert found.name


def test_a_containers_quota_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.probes.cores.container_quota", lambda: 1.5)
    found = probe_cores()
    assert found.usable <= 2
    assert any("1.5 processors" in note for note in found.notes)


def test_thread_counts_cover_one_core_and_many() -> None:
    assert thread_counts(1, 1) == (1,)
    assert thread_counts(8, 16) == (1, 2, 4, 8, 16)
    assert thread_counts(6, 12) == (1, 2, 4, 6, 8, 12)
    assert len(thread_counts(64, 128)) == 8


def test_free_memory_is_not_more_than_there_is() -> None:
    found = probe_memory()
    assert 0 < found.available_bytes <= found.total_bytes


def test_memory_bandwidth_is_a_plausible_figure() -> None:
    found = probe_bandwidth(Control(scale=0.1))
    assert 5e7 < found.best_bytes_s < 5e12


def test_expert_compute_is_measured_with_the_models_own_types(
    tiny_model: Callable[[Recipe], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune.probes.compute.POOL_BYTES", 4 << 20)
    facts = facts_of(open_model(tiny_model(Recipe())))
    one = CoresResult("one", 1, 1, 1, 1, 1, 0, False, None, 0.0, ())
    monkeypatch.setattr("autotune.probes.compute.probe_cores", lambda: one)
    found = probe_compute(facts, Control(scale=0.05))
    assert {p.type_name for p in found.points} <= {s.type_name for s in facts.shapes}
    assert [n for n, _ in found.token_seconds] == [1]
    assert 0 < found.seconds_at(1) < 1


def test_the_fewest_threads_that_are_about_best_are_preferred() -> None:
    assert ComputeResult((), ((1, 0.2), (2, 0.1), (4, 0.099))).best_threads == 2


def test_a_device_of_ggml_is_measured_as_a_graphics_card_would_be() -> None:
    """The processor's own device stands in for one."""
    found = probe_gpus(Control(scale=0.05), kinds=(CPU,))
    (device,) = found.devices
    assert device.copy_bytes_s is not None
    assert device.copy_bytes_s > 1e7
    assert device.copy_contended_bytes_s is not None
    assert NOT_USED in found.notes  # figures alone would look like a promise


def test_no_graphics_card_is_a_normal_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.probes.gpu.nvidia_cards", lambda: (None, (), None))
    assert probe_gpus(Control(scale=0.05), kinds=(99,)).notes == ()


def test_a_card_that_this_build_cannot_use_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.probes.gpu.nvidia_cards", lambda: ("550", ("RTX 4090",), None))
    found = probe_gpus(Control(scale=0.05), kinds=(99,))
    assert found.unused == ("RTX 4090",)
    assert "RTX 4090" in found.notes[0]
    assert NOT_USED in found.notes


def test_ggml_says_which_vector_units_it_uses() -> None:
    assert isinstance(ggml().cpu_features(), tuple)


def test_every_probe_declares_itself() -> None:
    assert len({p.name for p in PROBES}) == len(PROBES)
    for probe in PROBES:
        assert probe.title
        assert probe.method
        assert 0 < probe.seconds <= 90
        assert probe.memory_bytes <= 1 << 30


def test_a_probe_that_fails_becomes_a_note_and_the_others_run() -> None:
    def fail(facts: object, control: Control) -> None:
        raise OSError("no such device")

    broken: Probe[None] = Probe("broken", "Broken", "", "fails", 1.0, 0, False, fail, str)
    found = run_probes(None, Control(), probes=(broken, CORES))
    assert found["broken"].result is None
    assert "no such device" in found["broken"].notes[0]
    assert found["cores"].result is not None


def test_a_probe_that_needs_a_model_says_so_without_one() -> None:
    drive = next(p for p in PROBES if p.name == "drive")
    assert "needs a model" in read(drive, None, Control()).notes[0]


def test_cancelling_passes_through() -> None:
    with pytest.raises(CancelledError):
        run_probes(None, Control(cancelled=lambda: True))
