"""Ctrl-C while native code runs: ends the computation at once, then the Python code around it can say so."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def on_interrupt(action: Callable[[], None]) -> Iterator[None]:
    """While open, Ctrl-C calls `action` (from another thread, possibly several times) instead of raising.

    Python runs a signal handler only between two bytecodes of the main thread, which may be minutes inside llama.cpp.
    The C part of its signal handling writes to a socket at once, and a thread that reads there is not held up.
    To be opened on the main thread; elsewhere, where no signals arrive, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    watcher = threading.Thread(target=_watch, args=(reader, action), name="ctrl-c", daemon=True)
    watcher.start()
    previous = signal.signal(signal.SIGINT, _leave_to_watcher)
    previous_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous_fd)
        signal.signal(signal.SIGINT, previous)
        writer.close()
        watcher.join()
        reader.close()


def _leave_to_watcher(_number: int, _frame: FrameType | None) -> None:
    """A handler must be installed for Python to write to the socket; the watcher does the work."""


def _watch(reader: socket.socket, action: Callable[[], None]) -> None:
    while received := reader.recv(64):
        if signal.SIGINT in received:
            action()
