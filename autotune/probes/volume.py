"""What kind of place the model lies in: file system, drive, removable, over a network."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.probes.probe import Probe
from engine.direct_file import open_direct

NETWORK = {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afpfs", "webdav", "9p", "virtiofs", "fuse.sshfs"} | {
    "ceph",
    "glusterfs",
    "fuse.rclone",
    "fuse.gcsfuse",
    "fuse.s3fs",
    "lustre",
    "afs",
}
MEMORY = {"tmpfs", "ramfs"}
VIRTUAL = ("vd", "xvd")
"""Drives of a virtual machine call themselves rotating, whatever is behind them."""


@dataclass(frozen=True)
class VolumeResult:
    """`kind`: "ssd", "hard disk", "memory", "network", "removable" or "unknown". `device` is the system's name."""

    kind: str
    file_system: str
    device: str
    removable: bool
    network: bool
    direct_reads: bool
    scheduler: str | None = None
    notes: tuple[str, ...] = ()


def probe_volume(path: Path) -> VolumeResult:
    """Ask the system about the volume that holds `path`. What it does not tell is "unknown", with a note."""
    if sys.platform == "win32":
        found = _windows(path)
    elif sys.platform == "darwin":
        found = _macos(path)
    else:
        found = _linux(path)
    return found


def _direct(path: Path) -> bool:
    file = open_direct(path)
    try:
        return file.direct
    finally:
        file.close()


def _kind(file_system: str, rotational: bool | None, removable: bool, network: bool) -> str:
    if network:
        return "network"
    if file_system in MEMORY:
        return "memory"
    if removable:
        return "removable"
    return "unknown" if rotational is None else "hard disk" if rotational else "ssd"


def _notes(kind: str, direct: bool) -> tuple[str, ...]:
    notes = []
    if kind == "network":
        notes.append("the model lies on a network drive: its speed changes with the network")
    if kind == "removable":
        notes.append("the model lies on a removable drive: it may be slower in another port")
    if kind == "hard disk":
        notes.append("the model lies on a hard disk: moving heads make random reads very slow")
    if kind == "unknown":
        notes.append("the system does not say what kind of drive this is")
    if not direct:
        notes.append("the file system does not allow direct reads")
    return tuple(notes)


def mount_of(device: str, path: Path, mountinfo: str) -> tuple[str, str]:
    """(file system, source) of the mount with this "major:minor", or of the longest mount point above `path`."""
    best = ("", "unknown", "unknown")
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, more = left.split(), right.split()
        if len(fields) < 5 or len(more) < 2:
            continue
        point = fields[4].encode().decode("unicode_escape")
        if fields[2] == device and best[1] == "unknown":
            best = (best[0], more[0], more[1])
        if path.is_relative_to(point) and len(point) >= len(best[0]):
            best = (point, more[0], more[1])
    return best[1], best[2]


def _linux(path: Path) -> VolumeResult:
    real = path.resolve()
    number = real.stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    file_system, source = mount_of(device, real, _text(Path("/proc/self/mountinfo")))
    block = block_device(Path("/sys/dev/block") / device, Path("/sys/class/block") / Path(source).name)
    virtual = block is not None and block.name.startswith(VIRTUAL)
    rotational = _flag(block / "queue" / "rotational") if block and not virtual else None
    removable = bool(_flag(block / "removable")) if block else False
    scheduler = _text(block / "queue" / "scheduler").strip() or None if block else None
    network = file_system in NETWORK
    direct = _direct(real)
    kind = _kind(file_system, rotational, removable, network)
    name = block.name if block else source
    return VolumeResult(kind, file_system, name, removable, network, direct, scheduler, _notes(kind, direct))


def block_device(*candidates: Path) -> Path | None:
    """The whole drive behind a partition: the first directory upwards that has a `queue`."""
    for candidate in candidates:
        if not candidate.exists():
            continue
        real = candidate.resolve()
        for place in (real, real.parent):
            if (place / "queue").is_dir():
                return place
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _flag(path: Path) -> bool | None:
    text = _text(path).strip()
    return text == "1" if text in {"0", "1"} else None


def _macos(path: Path) -> VolumeResult:
    """`diskutil info` knows the bus and whether it is solid state; it only reads."""
    mount = subprocess.run(["df", "-P", str(path)], capture_output=True, text=True, timeout=5, check=False).stdout
    source = mount.splitlines()[-1].split()[0] if len(mount.splitlines()) > 1 else "unknown"
    said = subprocess.run(["diskutil", "info", source], capture_output=True, text=True, timeout=10, check=False).stdout
    facts = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in said.splitlines())}
    file_system = facts.get("Type (Bundle)", "unknown")
    network = source.startswith("//") or ":" in source
    solid = {"Yes": False, "No": True}.get(facts.get("Solid State", ""))
    removable = facts.get("Removable Media", "Fixed") not in {"Fixed", ""} or facts.get("Protocol") == "USB"
    direct = _direct(path)
    kind = _kind(file_system, solid, removable, network)
    return VolumeResult(kind, file_system, source, removable, network, direct, None, _notes(kind, direct))


def _windows(path: Path) -> VolumeResult:
    """`GetDriveType` and `GetVolumeInformation`; the seek penalty (solid state or not) needs a volume handle."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    root = path.resolve().anchor
    drive = int(kernel.GetDriveTypeW(root))
    name = ctypes.create_unicode_buffer(64)
    kernel.GetVolumeInformationW(root, None, 0, None, None, None, name, 64)
    network, removable = drive == 4, drive == 2
    direct = _direct(path)
    kind = _kind(name.value or "unknown", _seek_penalty(kernel, root), removable, network)
    return VolumeResult(kind, name.value or "unknown", root, removable, network, direct, None, _notes(kind, direct))


def _seek_penalty(kernel: ctypes.CDLL, root: str) -> bool | None:
    """IOCTL_STORAGE_QUERY_PROPERTY, StorageDeviceSeekPenaltyProperty, on a handle without any access right."""
    kernel.CreateFileW.restype = ctypes.c_void_p
    handle = kernel.CreateFileW(f"\\\\.\\{root.rstrip(chr(92))}", 0, 3, None, 3, 0, None)
    if handle in (None, ctypes.c_void_p(-1).value):
        return None
    query = (ctypes.c_uint32 * 3)(7, 0, 0)
    answer = (ctypes.c_uint32 * 3)()
    done = ctypes.c_uint32()
    ok = kernel.DeviceIoControl(ctypes.c_void_p(handle), 0x2D1400, query, 12, answer, 12, ctypes.byref(done), None)
    kernel.CloseHandle(ctypes.c_void_p(handle))
    return bool(answer[2] & 0xFF) if ok else None


def _run(facts: ModelFacts | None, control: Control) -> VolumeResult:
    assert facts is not None  # `needs_model`
    control.check()
    return probe_volume(facts.path)


def _figure(result: VolumeResult) -> str:
    reads = "direct reads" if result.direct_reads else "no direct reads"
    return f"{result.kind} ({result.device}), {result.file_system}, {reads}"


VOLUME = Probe(
    name="volume",
    title="Kind of drive",
    unit="",
    method="what the operating system says of the volume that holds the model, and one direct read",
    seconds=15.0,
    memory_bytes=1 << 20,
    needs_model=True,
    run=_run,
    figure=_figure,
)
