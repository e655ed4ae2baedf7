"""Say what a model file holds and how it would run here.

Reads only the file's header, so it takes a moment for a model of any size.
"""

from __future__ import annotations

import argparse
import json
import textwrap

from engine.cli.parser import add_model, add_settings, settings_from
from engine.errors import one_line
from engine.gguf import open_model
from engine.inspection import describe, inspect_model
from engine.memory import memory_available

_LABEL_WIDTH, _TEXT_WIDTH = 13, 100


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="print one object with every figure, sizes in bytes")
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Print the facts."""
    files = open_model(args.model)
    facts = inspect_model(files, settings_from(args, files), memory_available())
    if args.json:
        print(json.dumps(facts.to_json(), ensure_ascii=True, indent=2))
        return 0
    for label, sentence in describe(facts):
        lines = textwrap.wrap(one_line(sentence), _TEXT_WIDTH) or [""]
        print(f"{label:<{_LABEL_WIDTH}}{lines[0]}")
        for line in lines[1:]:
            print(" " * _LABEL_WIDTH + line)
    return 0
