"""Empties the operating system's cache of files, so that a run begins with everything on the drive."""

from __future__ import annotations

import os
from pathlib import Path

_DROP = Path("/proc/sys/vm/drop_caches")


def drop(switch: Path = _DROP) -> bool:
    """Drop every clean page; False where this system or user cannot (it takes root on Linux)."""
    if not switch.exists() or not os.access(switch, os.W_OK):
        return False
    os.sync()  # a page that is not written yet stays
    try:
        switch.write_text("3\n")
    except OSError:  # /proc of a container is read-only
        return False
    return True
