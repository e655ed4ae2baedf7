"""Lines from a terminal, with editing and history, or from a pipe."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import ModuleType, TracebackType

try:
    import readline as _readline
except ImportError:  # Windows has its own line editing
    _readline = None  # type: ignore[assignment]

_HISTORY_LINES = 1000


class LineInput:
    """Reads the user's lines; a context manager that keeps the history of a terminal between runs.

    Attributes:
        interactive: whether a person sits at the other end.
    """

    def __init__(self, history: Path | None = None) -> None:
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        self._history = history or _history_file()
        self._readline: ModuleType | None = _readline if self.interactive else None

    def __enter__(self) -> LineInput:
        if self._readline is not None:
            with contextlib.suppress(OSError):
                self._readline.read_history_file(self._history)
            self._readline.set_history_length(_HISTORY_LINES)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._readline is not None:
            # History is a comfort: where it cannot be written (a full or read-only disk) the chat still ends well.
            with contextlib.suppress(OSError):
                self._history.parent.mkdir(parents=True, exist_ok=True)
                self._readline.write_history_file(self._history)

    def read(self) -> str | None:
        """The next line without its end, or None when there is none."""
        if not self.interactive:
            line = sys.stdin.readline()
            return line.rstrip("\r\n") if line else None
        try:
            return input("> ")
        except EOFError:
            print()
            return None


def _history_file() -> Path:
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "gannet" / "chat_history"
