"""Limits of containers, from made-up /proc and /sys trees: a limit that is missed ends in an out-of-memory kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.memory.available import combine, memory_available
from engine.memory.cgroups import GroupMemory, parse_memberships, parse_mounts, parse_stat, tightest_group

GB = 1_000_000_000
V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate"
V1_MOUNT = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"


class Tree:
    """A folder with `proc` and `sys` as the kernel would show them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.put("proc/self/cgroup", "")
        self.put("proc/self/mountinfo", "")

    def put(self, path: str, content: object) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{content}\n")

    def group_v2(self, path: str, maximum: object, current: int, *, high: object = "max", cache: int = 0) -> None:
        folder = f"sys/fs/cgroup{path}"
        self.put(f"{folder}/memory.max", maximum)
        self.put(f"{folder}/memory.high", high)
        self.put(f"{folder}/memory.current", current)
        self.put(f"{folder}/memory.stat", f"anon {current - cache}\ninactive_file {cache}\nactive_file 0\nshmem 5")

    def group_v1(self, path: str, limit: int, usage: int, *, cache: int = 0) -> None:
        folder = f"sys/fs/cgroup/memory{path}"
        self.put(f"{folder}/memory.limit_in_bytes", limit)
        self.put(f"{folder}/memory.usage_in_bytes", usage)
        self.put(f"{folder}/memory.stat", f"cache 1\ntotal_inactive_file {cache // 2}\ntotal_active_file {cache // 2}")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_machine_without_groups_has_no_limit(tmp_path: Path) -> None:
    assert tightest_group(tmp_path) is None


def test_version_2_limit_less_use(tree: Tree) -> None:
    tree.put("proc/self/cgroup", "0::/user.slice/app.scope")
    tree.put("proc/self/mountinfo", V2_MOUNT)
    tree.group_v2("/user.slice/app.scope", 8 * GB, 3 * GB)
    group = tightest_group(tree.root)
    assert group is not None
    assert (group.limit_bytes, group.available_bytes) == (8 * GB, 5 * GB)


def test_page_cache_counts_as_free(tree: Tree) -> None:
    """Without this a container that has just read a model looks full, and the cache would be next to nothing."""
    tree.put("proc/self/cgroup", "0::/")
    tree.put("proc/self/mountinfo", V2_MOUNT)
    tree.group_v2("", 8 * GB, 8 * GB, cache=6 * GB)
    group = tightest_group(tree.root)
    assert group is not None
    assert group.available_bytes == 6 * GB


def test_the_tightest_ancestor_decides(tree: Tree) -> None:
    tree.put("proc/self/cgroup", "0::/a/b/c")
    tree.put("proc/self/mountinfo", V2_MOUNT)
    tree.group_v2("/a", 10 * GB, 1 * GB)
    tree.group_v2("/a/b", 4 * GB, 3 * GB)
    tree.group_v2("/a/b/c", "max", 3 * GB)
    group = tightest_group(tree.root)
    assert group is not None
    assert group.path == tree.root / "sys/fs/cgroup/a/b"
    assert group.available_bytes == 1 * GB


def test_memory_high_limits_too(tree: Tree) -> None:
    """Above it the kernel slows a program down to nothing, which feels like a hang."""
    tree.put("proc/self/cgroup", "0::/a")
    tree.put("proc/self/mountinfo", V2_MOUNT)
    tree.group_v2("/a", "max", 1 * GB, high=2 * GB)
    group = tightest_group(tree.root)
    assert group is not None
    assert (group.limit_bytes, group.available_bytes) == (2 * GB, 1 * GB)


def test_a_group_over_its_limit_has_nothing_left(tree: Tree) -> None:
    tree.put("proc/self/cgroup", "0::/a")
    tree.put("proc/self/mountinfo", V2_MOUNT)
    tree.group_v2("/a", 1 * GB, 2 * GB)
    group = tightest_group(tree.root)
    assert group is not None
    assert group.available_bytes == 0


def test_a_container_that_sees_only_its_own_group(tree: Tree) -> None:
    """Docker shows the container's group as the mount's top and a path from outside in /proc/self/cgroup."""
    tree.put("proc/self/cgroup", "0::/../../docker/abc")
    tree.put("proc/self/mountinfo", V2_MOUNT)
    tree.group_v2("", 2 * GB, 1 * GB)
    group = tightest_group(tree.root)
    assert group is not None
    assert group.available_bytes == 1 * GB


def test_version_1_limit_with_page_cache(tree: Tree) -> None:
    tree.put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:cpuset,memory:/job/1\n0::/")
    tree.put("proc/self/mountinfo", f"{V1_MOUNT}\n{V2_MOUNT.replace('/sys/fs/cgroup', '/sys/fs/cgroup/unified')}")
    tree.group_v1("/job", 6 * GB, 5 * GB, cache=2 * GB)
    tree.group_v1("/job/1", 9_223_372_036_854_771_712, 5 * GB)
    group = tightest_group(tree.root)
    assert group is not None
    assert (group.limit_bytes, group.available_bytes) == (6 * GB, 3 * GB)


def test_version_1_in_a_container_without_a_namespace(tree: Tree) -> None:
    tree.put("proc/self/cgroup", "4:memory:/docker/abc/job")
    tree.put("proc/self/mountinfo", V1_MOUNT.replace(" / ", " /docker/abc "))
    tree.group_v1("/job", 2 * GB, 1 * GB)
    group = tightest_group(tree.root)
    assert group is not None
    assert group.available_bytes == 1 * GB


def test_unreadable_figures_are_no_limit(tree: Tree) -> None:
    tree.put("proc/self/cgroup", "nonsense\n0::/a")
    tree.put("proc/self/mountinfo", f"x\n1 2 - cgroup2\n{V2_MOUNT}")
    tree.group_v2("/a", "many", 1)
    assert tightest_group(tree.root) is None


def test_parsing() -> None:
    assert [str(path) for path in parse_memberships("1:a,memory:/x:y\n0::/").values()] == ["/x:y", "/x:y", "/"]
    (mount,) = parse_mounts(V2_MOUNT.replace("/sys/fs/cgroup", "/mnt/with\\040space"))
    assert (mount.version, str(mount.point)) == (2, "/mnt/with space")
    assert parse_mounts("1 2 0:1 / /sys rw - cgroup cgroup rw,cpu") == []
    assert parse_stat("anon 5\nfile x\nodd") == {"anon": 5}


def test_the_tighter_of_machine_and_group_counts() -> None:
    group = GroupMemory(limit_bytes=8 * GB, used_bytes=2 * GB, path=Path("/g"))
    limited = combine(16 * GB, 12 * GB, group)
    assert (limited.total_bytes, limited.available_bytes, limited.limit_bytes) == (8 * GB, 6 * GB, 8 * GB)
    assert "/g" in limited.source
    machine = combine(16 * GB, 4 * GB, group)
    assert (machine.available_bytes, machine.limit_bytes, machine.source) == (4 * GB, None, "machine")


def test_this_machine_has_memory() -> None:
    measured = memory_available()
    assert 0 < measured.available_bytes <= measured.total_bytes
