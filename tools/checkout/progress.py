"""Shows on stderr that a step is running: a living line in a terminal, a line every half minute elsewhere."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from pathlib import Path


class Progress:
    """Context manager around a step that writes to a log: says what it is, how long it usually takes, how far it is."""

    def __init__(self, what: str, usual: str, log: Path) -> None:
        self._what, self._usual, self._log = what, usual, log
        self._start = time.monotonic()
        self._live = sys.stderr.isatty()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Progress:
        print(f"dev: {self._what} (usually {self._usual})", file=sys.stderr, flush=True)
        self._thread.start()
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self._done.set()
        self._thread.join()
        if self._live:
            print("\r\033[K", end="", file=sys.stderr)
        if kind is None:
            print(f"dev:   done in {clock(time.monotonic() - self._start)}", file=sys.stderr, flush=True)

    def _tick(self) -> None:
        while not self._done.wait(0.5 if self._live else 30):
            width = shutil.get_terminal_size((120, 24)).columns - 1
            line = f"dev:   {clock(time.monotonic() - self._start)}  {last_line(self._log)}"[:width]
            print(
                f"\r\033[K{line}" if self._live else line, end="" if self._live else "\n", file=sys.stderr, flush=True
            )


def clock(seconds: float) -> str:
    """Elapsed time as a person reads it: `4.2 s`, `3:07 min`."""
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"


def last_line(log: Path) -> str:
    """The last line of a log that says something; empty when there is none yet."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
        lines = file.read().decode(errors="replace").replace("\r", "\n").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
    return ""
