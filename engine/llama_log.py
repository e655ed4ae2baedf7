"""llama.cpp's log, line by line, as records of the logger `engine.llama`; nothing reaches the terminal by itself."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import threading
from collections.abc import Iterator

import llama_cpp

LOGGER = logging.getLogger("engine.llama")
LOGGER.addHandler(logging.NullHandler())
LOGGER.setLevel(logging.INFO)

# enum ggml_log_level; llama-cpp-python's own table of it is older.
_DEBUG, _CONTINUES = 1, 5
_LEVELS = {0: logging.INFO, _DEBUG: logging.DEBUG, 2: logging.INFO, 3: logging.WARNING, 4: logging.ERROR}


class _Lines:
    """Joins the pieces llama.cpp logs into lines. Called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = ""
        self._level = logging.INFO

    def feed(self, level: int, text: bytes) -> None:
        with self._lock:
            if level != _CONTINUES:
                self._level = _LEVELS.get(level, logging.INFO)
            *lines, self._text = (self._text + text.decode("utf-8", "replace")).split("\n")
            log_level = self._level
        for line in lines:
            if line.strip(" ."):
                LOGGER.log(log_level, "%s", line.rstrip())


_lines = _Lines()


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _on_log(level: int, text: bytes, _user_data: ctypes.c_void_p) -> None:
    if level != _DEBUG or LOGGER.isEnabledFor(logging.DEBUG):
        _lines.feed(level, text)


def install() -> None:
    """Route llama.cpp's log here. Importing llama_cpp routes it to stderr, so this follows that import."""
    llama_cpp.llama_log_set(_on_log, ctypes.c_void_p(0))


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextlib.contextmanager
def collected() -> Iterator[list[logging.LogRecord]]:
    """The records logged while the context is open."""
    collector = _Collector()
    LOGGER.addHandler(collector)
    try:
        yield collector.records
    finally:
        LOGGER.removeHandler(collector)


def reason(records: list[logging.LogRecord]) -> str:
    """Why something failed, from its log: the innermost cause without function names, or an empty string."""
    errors = [r.getMessage() for r in records if r.levelno >= logging.ERROR]
    for line in errors:
        _, found, cause = line.partition("error loading model: ")
        if found:
            return cause.strip()
    return errors[0].partition(": ")[2].strip() or errors[0].strip() if errors else ""


install()
