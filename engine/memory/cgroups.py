"""Memory limits of Linux control groups (containers, services, `systemd-run`), version 1 and 2.

A group's use counts the page cache of the files its processes read. That cache is given back when memory is needed, so
it counts as free here; without that, a container that has just read a model would look full. Every ancestor's
limit holds as well, so the tightest one decides. Documents: kernel.org, admin-guide/cgroup-v2.rst and
admin-guide/cgroup-v1/memory.rst.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_UNLIMITED = 1 << 60  # version 1 writes "no limit" as a number near 2**63


@dataclass(frozen=True, slots=True)
class GroupMemory:
    """One control group with a limit.

    Attributes:
        limit_bytes: what its processes may use together.
        used_bytes: what they use and cannot give back.
        path: the group's folder.
    """

    limit_bytes: int
    used_bytes: int
    path: Path

    @property
    def available_bytes(self) -> int:
        """What is left below the limit; 0 where the group is over it."""
        return max(0, self.limit_bytes - self.used_bytes)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Names of one version's files; the first limit that is set and lowest counts."""

    limits: tuple[str, ...]
    usage: str
    reclaimable: tuple[str, ...]


_V2 = _Layout(("memory.max", "memory.high"), "memory.current", ("inactive_file", "active_file", "slab_reclaimable"))
_V1 = _Layout(("memory.limit_in_bytes",), "memory.usage_in_bytes", ("total_inactive_file", "total_active_file"))


def tightest_group(root: Path = Path("/")) -> GroupMemory | None:
    """The group that leaves this process the least memory; None without a limit or without control groups.

    `root` is the folder that holds `proc` and `sys`; tests give a tree of their own.
    """
    return GroupFinder(root).tightest()


class GroupFinder:
    """Finds the tightest group again and again: where the groups lie is looked up once, and when it changes."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._known = ("", tuple[tuple[Path, _Layout], ...]())

    def tightest(self) -> GroupMemory | None:
        """As `tightest_group`."""
        memberships, folders = self._known
        now = _text(self._root / "proc/self/cgroup")
        if now != memberships:
            folders = tuple(_folders(self._root, now))
            self._known = now, folders
        groups = [group for folder, layout in folders if (group := _read_group(folder, layout)) is not None]
        return min(groups, key=lambda group: group.available_bytes, default=None)


def _folders(root: Path, membership: str) -> Iterator[tuple[Path, _Layout]]:
    """The folders of this process's groups and their ancestors, as far up as they are visible."""
    memberships = parse_memberships(membership)
    for mount in parse_mounts(_text(root / "proc/self/mountinfo")):
        path = memberships.get("" if mount.version == 2 else "memory")
        if path is None:
            continue
        top = root / mount.point.relative_to("/")
        folder = top / _below(path, mount.root)
        while True:
            yield folder, _V2 if mount.version == 2 else _V1
            if folder == top:
                break
            folder = folder.parent


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a hierarchy of groups is mounted, and which of its groups the mount shows as its top."""

    version: int
    root: PurePosixPath
    point: PurePosixPath


def parse_memberships(text: str) -> dict[str, PurePosixPath]:
    """`/proc/self/cgroup`: controller -> the process's group; version 2 has the controller ""."""
    groups: dict[str, PurePosixPath] = {}
    for line in text.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3:
            groups |= {controller: PurePosixPath(parts[2]) for controller in parts[1].split(",")}
    return groups


def parse_mounts(text: str) -> list[Mount]:
    """`/proc/self/mountinfo`: the mounts that may hold memory limits."""
    mounts = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if len(fields) < 5 or len(kind) < 3 or not fields[4].startswith("/"):
            continue
        version = 2 if kind[0] == "cgroup2" else 1 if kind[0] == "cgroup" and "memory" in kind[2].split(",") else 0
        if version:
            mounts.append(Mount(version, PurePosixPath(_unescape(fields[3])), PurePosixPath(_unescape(fields[4]))))
    return mounts


def _below(path: PurePosixPath, mount_root: PurePosixPath) -> PurePosixPath:
    """The group's place below the mount; its top where the mount shows another part of the hierarchy (containers)."""
    below = path.relative_to(mount_root) if path.is_relative_to(mount_root) else PurePosixPath()
    return PurePosixPath() if ".." in below.parts else below


def _read_group(folder: Path, layout: _Layout) -> GroupMemory | None:
    limits = [limit for name in layout.limits if (limit := _number(folder / name)) is not None and limit < _UNLIMITED]
    usage = _number(folder / layout.usage)
    if not limits or usage is None:
        return None
    stat = parse_stat(_text(folder / "memory.stat"))
    reclaimable = sum(stat.get(name, 0) for name in layout.reclaimable)
    return GroupMemory(min(limits), max(0, usage - reclaimable), folder)


def parse_stat(text: str) -> dict[str, int]:
    """`memory.stat`: one name and number a line."""
    pairs = [line.split() for line in text.splitlines()]
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None  # version 2 writes "max" for no limit


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _unescape(field: str) -> str:
    """mountinfo writes space, tab, newline and backslash as octal escapes."""
    for code in ("040", "011", "012", "134"):
        field = field.replace("\\" + code, chr(int(code, 8)))
    return field
