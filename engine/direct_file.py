"""Reading a file past the page cache, on each operating system, behind one small interface.

A `DirectFile` belongs to one thread: on Windows a shared synchronous handle serves one read at a time.
Offsets and lengths must be multiples of `alignment`, buffers must be page-aligned (`aligned_buffer` is).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path
from typing import Protocol

ALIGNMENT = 4096
"""Bytes. Every drive accepts direct reads aligned to this: logical blocks are 512 or 4096 bytes."""


class DirectFile(Protocol):
    """A file opened for reading only."""

    direct: bool
    size: int

    def read_into(self, buffer: memoryview, offset: int) -> int:
        """Fill `buffer` from `offset`; returns the bytes read (fewer at the end of the file). Raises OSError."""

    def close(self) -> None:
        """Give the handle back."""


def aligned_buffer(nbytes: int) -> mmap.mmap:
    """Anonymous memory that begins on a page; `nbytes` is rounded up to whole pages."""
    return mmap.mmap(-1, -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE)


def aligned_range(offset: int, nbytes: int, alignment: int = ALIGNMENT) -> tuple[int, int]:
    """The smallest aligned (offset, length) that covers the range: at most two blocks more."""
    begin = offset // alignment * alignment
    end = -(-(offset + nbytes) // alignment) * alignment
    return begin, end - begin


class PosixFile:
    """Linux (`O_DIRECT`) and macOS (`F_NOCACHE`); buffered where the file system refuses."""

    def __init__(self, path: Path, *, direct: bool = True) -> None:
        self.direct = False
        self._fd = -1
        if direct and hasattr(os, "O_DIRECT"):
            self._fd = self._open_direct(path)
        if self._fd < 0:
            self._fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        if direct and sys.platform == "darwin":
            import fcntl

            self.direct = fcntl.fcntl(self._fd, fcntl.F_NOCACHE, 1) != -1
        self.size = os.fstat(self._fd).st_size

    def _open_direct(self, path: Path) -> int:
        """A descriptor whose first block can really be read directly, or -1 (tmpfs accepts or refuses by version)."""
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECT)
        except OSError:
            return -1
        try:
            os.preadv(fd, [aligned_buffer(ALIGNMENT)], 0)
        except OSError:
            os.close(fd)
            return -1
        self.direct = not _is_memory_file_system(fd)
        return fd

    def read_into(self, buffer: memoryview, offset: int) -> int:
        """See `DirectFile`."""
        return os.preadv(self._fd, [buffer], offset)

    def close(self) -> None:
        """See `DirectFile`."""
        os.close(self._fd)


def _is_memory_file_system(fd: int) -> bool:
    """Linux: tmpfs and ramfs have no drive; newer kernels let O_DIRECT pass there, but nothing is read from a disk."""
    try:
        device = os.fstat(fd).st_dev
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        fields = line.split(" - ")
        if len(fields) == 2 and fields[0].split()[2] == wanted:
            return fields[1].split()[0] in {"tmpfs", "ramfs"}
    return False


if sys.platform == "win32":

    class _Overlapped(ctypes.Structure):
        _fields_ = [
            ("internal", ctypes.c_void_p),
            ("internal_high", ctypes.c_void_p),
            ("offset", ctypes.c_uint32),
            ("offset_high", ctypes.c_uint32),
            ("event", ctypes.c_void_p),
        ]

    class WindowsFile:
        """`FILE_FLAG_NO_BUFFERING`; a buffered handle where the volume refuses it."""

        _READ, _SHARE, _OPEN, _NO_BUFFERING, _NORMAL = 0x80000000, 7, 3, 0x20000000, 0x80

        def __init__(self, path: Path, *, direct: bool = True) -> None:
            self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            self._kernel.CreateFileW.restype = ctypes.c_void_p
            self.size = path.stat().st_size
            self.direct = direct
            flags = self._NO_BUFFERING if direct else self._NORMAL
            self._handle = self._create(path, flags)
            if self._handle is None and direct:
                self.direct = False
                self._handle = self._create(path, self._NORMAL)
            if self._handle is None:
                raise ctypes.WinError(ctypes.get_last_error())

        def _create(self, path: Path, flags: int) -> int | None:
            handle = self._kernel.CreateFileW(str(path), self._READ, self._SHARE, None, self._OPEN, flags, None)
            return None if handle in (None, ctypes.c_void_p(-1).value) else int(handle)

        def read_into(self, buffer: memoryview, offset: int) -> int:
            """See `DirectFile`."""
            where = _Overlapped(offset=offset & 0xFFFFFFFF, offset_high=offset >> 32)
            done = ctypes.c_uint32()
            target = (ctypes.c_char * len(buffer)).from_buffer(buffer)
            handle = ctypes.c_void_p(self._handle)
            ok = self._kernel.ReadFile(handle, target, len(buffer), ctypes.byref(done), ctypes.byref(where))
            if not ok and ctypes.get_last_error() != 38:  # 38: the end of the file
                raise ctypes.WinError(ctypes.get_last_error())
            return int(done.value)

        def close(self) -> None:
            """See `DirectFile`."""
            self._kernel.CloseHandle(ctypes.c_void_p(self._handle))


def open_direct(path: Path, *, direct: bool = True) -> DirectFile:
    """Open for reading past the page cache where the system lets us; `direct` of the result says whether it does."""
    if sys.platform == "win32":
        return WindowsFile(path, direct=direct)
    return PosixFile(path, direct=direct)
