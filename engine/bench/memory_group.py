"""A Linux control group with a memory limit, page cache included, for one run: version 1 and 2, as root."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from engine.errors import GannetError
from engine.memory.cgroups import Mount, parse_mounts, parse_stat

_LEAVING = 50  # a group can be removed shortly after its last process has ended: so many looks
_LOOK_SECONDS = 0.1


class NoMemoryGroupError(GannetError):
    """This system or user cannot limit memory."""


@dataclass(frozen=True)
class _Layout:
    """Names of one version's files."""

    limit: str
    peak: str
    events: str


_LAYOUTS = {
    1: _Layout("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"),
    2: _Layout("memory.max", "memory.peak", "memory.events"),
}


class MemoryGroup:
    """A group of its own below the top of the hierarchy; a context manager that removes it.

    Attributes:
        folder: where it lies. limit_bytes: what its processes may use together.
    """

    def __init__(self, limit_bytes: int, name: str = "", root: Path = Path("/")) -> None:
        """Make the group. Raises `NoMemoryGroupError`."""
        self.limit_bytes = limit_bytes
        try:
            mount = _memory_mount(root)
            top = root / mount.point.relative_to("/")
            self._layout = _LAYOUTS[mount.version]
            self.folder = top / (name or f"gannet-bench-{os.getpid()}")
            if mount.version == 2 and "memory" not in (top / "cgroup.subtree_control").read_text().split():
                (top / "cgroup.subtree_control").write_text("+memory")
            self.folder.mkdir()
            (self.folder / self._layout.limit).write_text(str(limit_bytes))
            if mount.version == 2 and (self.folder / "memory.swap.max").exists():
                (self.folder / "memory.swap.max").write_text("0")
        except OSError as error:
            raise NoMemoryGroupError(f"no memory limit could be set here ({error.strerror or error})") from None

    def __enter__(self) -> MemoryGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, pid: int) -> None:
        """Put a process into the group. Raises `NoMemoryGroupError`."""
        try:
            (self.folder / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise NoMemoryGroupError(f"the memory limit could not be applied ({error.strerror or error})") from None

    def peak_bytes(self) -> int | None:
        """The most its processes used together; None where the kernel does not count it (version 2 before 5.19)."""
        text = self._read(self._layout.peak)
        return int(text) if text.isdigit() else None

    def oom_kills(self) -> int | None:
        """Processes killed for want of memory; None where the kernel does not count them."""
        return parse_stat(self._read(self._layout.events)).get("oom_kill")

    def close(self) -> None:
        """Remove the group. One that a process does not leave stays: it is empty of everything but that process."""
        for _ in range(_LEAVING):
            try:
                self.folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(_LOOK_SECONDS)
            else:
                return

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text().strip()
        except OSError:
            return ""


def _memory_mount(root: Path) -> Mount:
    """The hierarchy that limits memory: only one has the controller, whether or not both versions are mounted."""
    try:
        mounts = parse_mounts((root / "proc/self/mountinfo").read_text())
    except OSError:
        mounts = []
    for mount in sorted(mounts, key=lambda mount: mount.version):
        if mount.version == 1 or _has_memory(root / mount.point.relative_to("/")):
            return mount
    raise NoMemoryGroupError("no memory limit could be set here (no control groups)")


def _has_memory(top: Path) -> bool:
    try:
        return "memory" in (top / "cgroup.controllers").read_text().split()
    except OSError:
        return False
