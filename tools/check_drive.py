"""Checks the drive probe against fio: the same file, size and queue depth, one after the other, A B B A.

    ./dev exec python -m tools.check_drive MODEL [--rounds 5] [--seconds 3] [--engine libaio]

Needs the program `fio`. Prints, for each depth, the median of the pair ratios (probe over fio) and both rates.
`--engine psync` has fio read with one thread for each outstanding read, as the engine does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median

from autotune.control import Control
from autotune.facts import ModelFacts, facts_of
from autotune.probes.drive import DEPTHS, burst, by_size
from engine.direct_file import aligned_range
from engine.gguf import open_model


def main() -> None:
    """Run the check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--engine", default="libaio", choices=["libaio", "io_uring", "psync"])
    parser.add_argument(
        "--against-itself", action="store_true", help="fio instead of the probe: the drive's own scatter"
    )
    parser.add_argument("--depth", type=int, action="append", help="only this queue depth")
    args = parser.parse_args()
    facts = facts_of(open_model(args.model))
    for depth in args.depth or DEPTHS:
        pairs = [_pair(facts, depth, args, i) for i in range(args.rounds)]
        row = {
            "depth": depth,
            "ratio": round(median(probe / fio for probe, fio in pairs), 3),
            "probe_mb_s": [round(probe / 1e6) for probe, _ in pairs],
            "fio_mb_s": [round(fio / 1e6) for _, fio in pairs],
        }
        print(json.dumps(row), flush=True)


def _pair(facts: ModelFacts, depth: int, args: argparse.Namespace, number: int) -> tuple[float, float]:
    """(probe, fio) in bytes per second, in the order A B B A, so that a drive that drifts meets both alike.

    Who is A alternates, and the places are others in each pair.
    """
    places = by_size(facts.ranges, number)[0]
    nbytes = aligned_range(places[0].offset, places[0].nbytes)[1]

    def probe() -> float:
        return burst(facts.paths, places, depth, args.seconds / 2, Control()).bytes_s

    def fio() -> float:
        return fio_rate(facts.paths[places[0].file], nbytes, depth, args.seconds / 2, args.engine, number)

    measure: list[Callable[[], float]] = [fio if args.against_itself else probe, fio]
    a = number % 2
    rates = {0: 0.0, 1: 0.0}
    for which in (a, 1 - a, 1 - a, a):
        rates[which] += measure[which]() / 2
    return rates[0], rates[1]


def fio_rate(path: Path, nbytes: int, depth: int, seconds: float, engine: str, seed: int) -> float:
    """Bytes per second of fio's direct random reads of `nbytes`. Raises CalledProcessError if fio fails."""
    many = ["--numjobs", str(depth), "--thread"] if engine == "psync" else ["--iodepth", str(depth)]
    command = ["fio", "--name=probe", f"--filename={path}", "--readonly", "--rw=randread", "--direct=1"]
    command += [f"--bs={nbytes}", "--blockalign=4096", f"--ioengine={engine}", *many, f"--randseed={seed + 1}"]
    command += ["--time_based", f"--runtime={round(1000 * seconds)}ms", "--group_reporting", "--output-format=json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(json.loads(said[said.index("{") :])["jobs"][0]["read"]["bw_bytes"])


if __name__ == "__main__":
    main()
