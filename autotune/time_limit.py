"""Stops computing after a while."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from engine.stop_flag import StopFlag


@contextmanager
def stopping_after(seconds: float) -> Iterator[StopFlag]:
    """A flag that sets itself after `seconds`; no thread is left behind."""
    flag = StopFlag()
    timer = threading.Timer(seconds, flag.set)
    timer.daemon = True
    timer.start()
    try:
        yield flag
    finally:
        timer.cancel()
        timer.join()
