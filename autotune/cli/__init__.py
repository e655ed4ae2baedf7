"""`gannet tune` and `gannet probe`: errors become one line and exit code 2, as in the engine's commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from engine.cli import INTERRUPTED
from engine.errors import GannetError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, the command first; returns the exit code."""
    name, *rest = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if name == "probe":
            from autotune.cli import probe

            return probe.run(rest)
        from autotune.cli import tune

        return tune.run(rest)
    except GannetError as error:
        print(f"gannet: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
