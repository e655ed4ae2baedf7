"""Feeds the header reader broken files, `--cases` of them: each must be refused in one line or open as a usable model.

Ends with the first case that does neither, reduced to its smallest form.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import psutil
from hypothesis import HealthCheck, given, seed, settings

from tests.engine.gguf.broken_files import BROKEN, Broken, opens

SECONDS_PER_FILE = 2.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=25_000, help="how many files [25000]")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32), help="repeats a run")
    args = parser.parse_args(argv)
    before, started = psutil.Process().memory_info().rss, time.perf_counter()
    counts = run(args.cases, args.seed)
    grown = (psutil.Process().memory_info().rss - before) / (1 << 20)
    print(
        f"seed {args.seed}: {counts.total():,} files in {time.perf_counter() - started:.0f} s, "
        f"{counts[False]:,} refused in one line, {counts[True]:,} opened; memory grew by {grown:.0f} MiB"
    )
    return 0


def run(cases: int, start: int) -> Counter[bool]:
    """Try `cases` files; returns how many opened (True) and how many were refused (False)."""
    counts: Counter[bool] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "broken.gguf"

        @seed(start)
        @settings(max_examples=cases, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        @given(broken=BROKEN)
        def try_file(broken: Broken) -> None:
            broken.write(path)
            began = time.process_time()
            counts[opens(path)] += 1
            # Of the processor, not of the clock: a busy drive is no fault of the reader.
            assert time.process_time() - began < SECONDS_PER_FILE, "the reader takes too long over this file"

        try_file()
    return counts


if __name__ == "__main__":
    sys.exit(main())
