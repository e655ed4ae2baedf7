"""The limit is half of the claim: a run outside of it proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bench.memory_group import MemoryGroup, NoMemoryGroupError

V1 = "30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
V2 = "31 1 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"


def machine(root: Path, mounts: str, **files: str) -> Path:
    """A root folder with these mounts; `files` maps names below sys/fs/cgroup, __ for /."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(mounts)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def finish(group: MemoryGroup) -> None:
    """Empty the stand-in for a group, as the kernel's folders are: only then can it be removed."""
    for path in group.folder.iterdir():
        path.unlink()
    group.close()


def test_version_1_sets_the_limit_and_reads_what_happened(tmp_path: Path) -> None:
    root = machine(tmp_path, V1 + V2, memory__tasks="", unified__x="")
    group = MemoryGroup(1000, "g", root)
    folder = root / "sys/fs/cgroup/memory/g"
    assert (folder / "memory.limit_in_bytes").read_text() == "1000"
    group.add(42)
    assert (folder / "cgroup.procs").read_text() == "42"
    (folder / "memory.max_usage_in_bytes").write_text("900\n")
    (folder / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    assert (group.peak_bytes(), group.oom_kills()) == (900, 2)
    finish(group)
    assert not folder.exists()


def test_version_2_switches_the_controller_on_first(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        V2,
        **{"unified__cgroup.controllers": "cpu memory\n", "unified__cgroup.subtree_control": "cpu\n"},
    )
    group = MemoryGroup(1000, "g", root)
    assert (root / "sys/fs/cgroup/unified/cgroup.subtree_control").read_text() == "+memory"
    assert (group.folder / "memory.max").read_text() == "1000"
    assert (group.peak_bytes(), group.oom_kills()) == (None, None), "an old kernel does not count them"
    (group.folder / "memory.peak").write_text("900\n")
    (group.folder / "memory.events").write_text("oom 1\noom_kill 1\n")
    assert (group.peak_bytes(), group.oom_kills()) == (900, 1)
    finish(group)


@pytest.mark.parametrize("mounts", ["", V2])
def test_without_control_of_memory_it_is_said_and_not_pretended(tmp_path: Path, mounts: str) -> None:
    with pytest.raises(NoMemoryGroupError, match="no memory limit could be set here"):
        MemoryGroup(1000, "g", machine(tmp_path, mounts))
    with pytest.raises(NoMemoryGroupError):
        MemoryGroup(1000, "g", tmp_path / "elsewhere")
