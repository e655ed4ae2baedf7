"""The terminal commands: `gannet COMMAND ...`. One table of commands; each is a module with `register` and `run`.

A command module has

* `register(parser)`: adds its arguments to its own parser;
* `run(args) -> int`: does the work and returns the exit code; a `GannetError` it raises becomes one line and exit
  code 2. `args.command_line` holds the arguments as they were typed.

Modules are imported only when their command is used, so that `gannet help` answers at once.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from engine.cli.parser import Parser
from engine.errors import GannetError

INTERRUPTED = 130
HELP = ("help", "-h", "--help")


@dataclass(frozen=True)
class Command:
    """A command: its name, the module that carries it out and one line for `gannet help`."""

    name: str
    module: str
    summary: str


COMMANDS = (
    Command("bench", "engine.cli.bench", "measure speed, and check what is claimed about it"),
    Command("chat", "engine.cli.chat", "talk with a model in the terminal"),
    Command("generate", "engine.cli.generate", "one answer to one prompt"),
    Command("inspect", "engine.cli.inspect", "what a model file holds and how it would run here"),
    Command("serve", "engine.cli.serve", "serve models to clients on this machine"),
    Command("launch", "engine.cli.launch", "point a coding tool at the running server"),
    Command("trace", "engine.cli.trace", "record which experts a model's routers choose"),
    Command("fit-lookahead", "engine.cli.fit_lookahead", "learn from a trace to predict a model's experts better"),
    Command("simulate", "engine.cli.simulate", "replay traces over cache policies"),
    Command("verify", "engine.cli.verify", "check that a model answers as stock llama.cpp does, bit for bit"),
)


def main(argv: Sequence[str] | None = None, others: Mapping[str, str] = MappingProxyType({})) -> int:
    """Run a command line (without the program's name) and return the exit code.

    `others`: commands that `gannet` carries out elsewhere, with one line each for `gannet help`.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments, others)
    except GannetError as error:
        print(f"gannet: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _dispatch(arguments: list[str], others: Mapping[str, str]) -> int:
    name, *rest = arguments or ["help"]
    if name in HELP:
        return _help(rest, others)
    return _run(_find(name), rest)


def _find(name: str) -> Command:
    for command in COMMANDS:
        if command.name == name:
            return command
    raise GannetError(f"there is no command '{name}'; `gannet help` lists them")


def _run(command: Command, arguments: list[str]) -> int:
    module = importlib.import_module(command.module)
    parser = Parser(prog=f"gannet {command.name}", description=module.__doc__)
    module.register(parser)
    parser.set_defaults(command_line=arguments)
    code: int = module.run(parser.parse_args(arguments))
    return code


def _help(rest: list[str], others: Mapping[str, str]) -> int:
    if rest:
        return _run(_find(rest[0]), ["--help"])
    lines = {command.name: command.summary for command in COMMANDS} | dict(others)
    width = max(map(len, lines))
    print("usage: gannet COMMAND ...\n\ncommands:")
    for name, summary in lines.items():
        print(f"  {name:<{width}}  {summary}")
    print("\n`gannet help COMMAND` says more. `gannet` alone opens the window.")
    return 0
