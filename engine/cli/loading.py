"""Loads the model a command names, with a progress line on a terminal and Ctrl-C to give up."""

from __future__ import annotations

import argparse
import sys
import threading

from engine.cli.interrupts import on_interrupt
from engine.cli.parser import settings_from
from engine.errors import LoadCancelledError
from engine.gguf import open_model
from engine.loader import LoadedModel, load


def load_model(args: argparse.Namespace) -> LoadedModel:
    """Open, check and load `args.model` with the settings in `args`; notes go to stderr, one line each."""
    files = open_model(args.model)
    settings = settings_from(args, files)
    given_up = threading.Event()
    line = ProgressLine()
    try:
        with on_interrupt(given_up.set):
            loaded = load(files, settings, progress=line.show, cancelled=given_up.is_set)
    except LoadCancelledError:
        raise KeyboardInterrupt from None
    finally:
        line.clear()
    for note in loaded.notes:
        print(f"note: {note}", file=sys.stderr)
    return loaded


class ProgressLine:
    """One line on stderr that is rewritten as work goes on and leaves nothing behind; silent without a terminal."""

    def __init__(self) -> None:
        self._shown = ""
        self._on = sys.stderr.isatty()

    def show(self, share: float, what: str) -> None:
        """Say that `share` (0 to 1) of `what` is done."""
        self.say(f"{what} {share:4.0%}")

    def say(self, what: str) -> None:
        """Say that `what` is being done, which has no measure."""
        if self._on and what != self._shown:
            print(f"\r\x1b[2K{what}", end="", file=sys.stderr, flush=True)
            self._shown = what

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
            self._shown = ""
