"""A mistake in the window itself: written down, shown as a notice, and the program goes on."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

LARGEST_LOG = 1 << 20


class FaultLog:
    """Takes exceptions nobody caught (in slots, timers, events) while installed.

    Attributes: `path`, the log file; `show`, called with the line for the user and the details.
    """

    def __init__(self, path: Path, show: Callable[[str, str], object]) -> None:
        self.path = path
        self._show = show
        self._before = sys.excepthook
        self._showing = False

    def install(self) -> None:
        """From now on."""
        sys.excepthook = self._caught

    def remove(self) -> None:
        """As it was before."""
        sys.excepthook = self._before

    def _caught(self, kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        self._before(kind, value, trace)
        if issubclass(kind, KeyboardInterrupt):
            return
        details = "".join(traceback.format_exception(kind, value, trace))
        self._write(details)
        if not self._showing:
            self._showing = True
            try:
                self._show(f"{kind.__name__}: {value}", details)
            finally:
                self._showing = False

    def _write(self, details: str) -> None:
        try:
            if self.path.exists() and self.path.stat().st_size > LARGEST_LOG:
                self.path.replace(self.path.with_suffix(".old"))
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{details}\n")
        except OSError:
            return  # a full disk must not hide the fault itself
