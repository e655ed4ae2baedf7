"""Ending with the parent, by each system's proper means: the engine must not outlive the window, however that ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable

import psutil

OnDeath = Callable[[], None]


def watch_parent(on_death: OnDeath) -> None:
    """Have `on_death` called, on some thread, when the parent process ends. Returns at once.

    Linux: the kernel also sends SIGTERM by itself, so that a process whose threads all hang ends too.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        _signal_on_parent_death()
    if sys.platform == "win32":
        wait = _wait_windows
    elif sys.platform == "darwin":
        wait = _wait_kqueue
    else:
        wait = _wait_polling

    def watch() -> None:
        wait(parent)
        on_death()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _signal_on_parent_death() -> None:
    pr_set_pdeathsig = 1
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(pr_set_pdeathsig, int(signal.SIGTERM), 0, 0, 0)


def _wait_polling(parent: int) -> None:
    """A process whose parent has ended gets another one."""
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(1.0)


if sys.platform == "win32":

    def _wait_windows(parent: int) -> None:
        """Wait for the parent's handle."""
        synchronize, infinite = 0x00100000, 0xFFFFFFFF
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = ctypes.c_void_p
        handle = kernel.OpenProcess(synchronize, False, parent)
        if handle:
            if psutil.Process().parent() is not None:  # else it has ended, and its number may be another's by now
                kernel.WaitForSingleObject(ctypes.c_void_p(handle), infinite)
            kernel.CloseHandle(ctypes.c_void_p(handle))


if sys.platform == "darwin":

    def _wait_kqueue(parent: int) -> None:
        """The kernel reports the parent's exit."""
        import select

        event = select.kevent(parent, filter=select.KQ_FILTER_PROC, flags=select.KQ_EV_ADD, fflags=select.KQ_NOTE_EXIT)
        queue = select.kqueue()
        try:
            if os.getppid() == parent:
                queue.control([event], 1, None)
        except ProcessLookupError:  # it has ended in this very moment
            pass
        finally:
            queue.close()
