"""Measure this machine: memory, processor, graphics cards, and with a model its drive and how fast its experts compute.

Reads only; takes half a minute with a model, a few seconds without.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from autotune.control import CancelledError, Control
from autotune.facts import facts_of
from autotune.probes import PROBES, Probe, Reading, run_probes
from engine.cli import INTERRUPTED
from engine.cli.interrupts import on_interrupt
from engine.cli.loading import ProgressLine
from engine.cli.parser import Parser
from engine.gguf import open_model


def run(arguments: Sequence[str]) -> int:
    """Run `gannet probe`."""
    parser = Parser(prog="gannet probe", description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, help="a GGUF file: measures its drive and its experts too")
    parser.add_argument("--json", action="store_true", help="print all figures as one JSON object")
    parser.add_argument("--only", choices=[p.name for p in PROBES], action="append", help="run only this probe")
    args = parser.parse_args(list(arguments))
    facts = facts_of(open_model(args.model)) if args.model else None
    chosen = tuple(p for p in PROBES if not args.only or p.name in args.only)
    line, given_up = ProgressLine(), threading.Event()

    def show(probe: Probe[Any], reading: Reading[Any] | None, share: float) -> None:
        line.show(share, f"Measuring: {probe.title}")
        if reading is not None and not args.json:
            line.clear()
            print(f"{probe.title}: {reading.figure}")
            for note in reading.notes:
                print(f"  {note}")

    try:
        with on_interrupt(given_up.set):
            readings = run_probes(facts, Control(cancelled=given_up.is_set), show, chosen)
    except CancelledError:
        print(file=sys.stderr)
        return INTERRUPTED
    finally:
        line.clear()
    if args.json:
        print(json.dumps({name: as_json(reading) for name, reading in readings.items()}, indent=1))
    return 0


def as_json(value: Any) -> Any:
    """A reading as plain JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {name: as_json(item) for name, item in _shallow(value).items()}
    if isinstance(value, dict):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value


def _shallow(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
