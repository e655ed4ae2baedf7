"""Checks the drive probe against fio at each queue depth, one after the other, A B B A.

    ./dev exec python -m tools.check_drive MODEL [--rounds 5] [--seconds 3] [--engine psync]

Needs the program `fio`. Both read past the page cache, the same sizes at the same kind of places: fio replays a list
of the model's own experts, widened to aligned blocks as the probe and the engine do. They take turns on one shuffled
list of all experts and go on where the other stopped, so nothing is read twice (a host's cache would give it back at
once) before the whole list has been read. `--engine psync`, the default, has fio read with one thread for each
outstanding read, as the probe and the engine do; `libaio` and `io_uring` keep as many in flight from one thread.
`--against-itself` compares fio with fio, which says how much of a difference is the drive's own.

Prints a JSON object for each depth: the ratio of rates (probe over fio) with its 95 % interval over the rounds, both
rates, and how many times over the list has been read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from autotune.alternation import interval
from autotune.control import Control
from autotune.facts import ReadRange, facts_of
from autotune.probes.drive import DEPTHS, LARGEST_READ, burst, by_size
from engine.direct_file import aligned_range
from engine.gguf import open_model

FASTEST_BYTES_S = 16e9
"""fio gets a list that no drive comes to the end of in its time."""


@dataclass
class Places:
    """Where to read: all experts of the commonest size in a shuffled order, gone through in a circle."""

    order: Sequence[ReadRange]
    at: int = 0

    def ahead(self, seconds: float) -> list[ReadRange]:
        """The next places, at most once around, enough for so long on the fastest drive."""
        most = int(FASTEST_BYTES_S * seconds / self.order[0].nbytes) + 1
        return [self.order[(self.at + i) % len(self.order)] for i in range(min(most, len(self.order)))]

    def went(self, nbytes: float) -> None:
        """So many bytes of those ahead have been read."""
        self.at += round(nbytes / self.order[0].nbytes) + 1

    @property
    def rounds(self) -> float:
        """How many times over the list has been read."""
        return self.at / len(self.order)


@dataclass(frozen=True)
class Check:
    """One comparison: the files that `places` are in, seconds of a burst, fio's engine."""

    paths: tuple[Path, ...]
    places: Places
    seconds: float
    engine: str
    against_itself: bool

    def probe(self, depth: int) -> float:
        """Bytes per second by the probe."""
        found = burst(self.paths, self.places.ahead(self.seconds), depth, self.seconds, Control())
        self.places.went(found.nbytes)
        return found.bytes_s

    def fio(self, depth: int) -> float:
        """Bytes per second by fio. Raises CalledProcessError if it fails."""
        jobs = depth if self.engine == "psync" else 1
        places = self.places.ahead(self.seconds)
        with tempfile.TemporaryDirectory() as folder:
            lists = [Path(folder) / f"reads-{job}" for job in range(jobs)]
            for job, path in enumerate(lists):
                path.write_text(read_list(self.paths, places[job::jobs]), encoding="utf-8")
            read = _run_fio(lists, depth // jobs, self.seconds, self.engine)
        self.places.went(read["io_bytes"])
        return float(read["bw_bytes"])

    def pair(self, depth: int, number: int) -> tuple[float, float]:
        """(probe, fio), each the mean of two bursts in the order A B B A; who is A alternates."""
        measure: list[Callable[[int], float]] = [self.fio if self.against_itself else self.probe, self.fio]
        a, rates = number % 2, [0.0, 0.0]
        for which in (a, 1 - a, 1 - a, a):
            rates[which] += measure[which](depth) / 2
        return rates[0], rates[1]


def whole(paths: Sequence[Path], places: Sequence[ReadRange]) -> list[ReadRange]:
    """Without a place whose last block ends after the file: the probe reads less there, fio takes that for an error."""
    sizes = [path.stat().st_size for path in paths]
    return [p for p in places if sum(aligned_range(p.offset, p.nbytes)) <= sizes[p.file]]


def read_list(paths: Sequence[Path], places: Sequence[ReadRange]) -> str:
    """fio's list of reads (its I/O log, version 2) for the aligned blocks around `places`."""
    names = [str(path.resolve()) for path in paths]
    reads = [
        f"{names[p.file]} read {offset} {nbytes}"
        for p in places
        for offset, nbytes in [aligned_range(p.offset, min(p.nbytes, LARGEST_READ))]
    ]
    around = [[f"{name} {what}" for name in names] for what in ("add", "open", "close")]
    return "\n".join(["fio version 2 iolog", *around[0], *around[1], *reads, *around[2]]) + "\n"


def _run_fio(lists: Sequence[Path], depth: int, seconds: float, engine: str) -> dict[str, Any]:
    """What fio says of reading: a job of its own, in a thread, for each list (fio 3.33 crashes if clones share one)."""
    command = ["fio", "--readonly", "--rw=randread", "--direct=1", f"--ioengine={engine}", f"--iodepth={depth}"]
    command += [f"--runtime={round(1000 * seconds)}ms", "--thread", "--group_reporting", "--output-format=json"]
    for path in lists:
        command += [f"--name={path.name}", f"--read_iolog={path}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    read: dict[str, Any] = json.loads(said[said.index("{") :])["jobs"][0]["read"]
    return read


def main() -> None:
    """Run the check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each of the two in a round")
    parser.add_argument("--engine", default="psync", choices=["psync", "libaio", "io_uring"])
    parser.add_argument("--against-itself", action="store_true", help="fio instead of the probe")
    parser.add_argument("--depth", type=int, action="append", help="only this queue depth")
    args = parser.parse_args()
    facts = facts_of(open_model(args.model))
    check = Check(
        facts.paths,
        Places(whole(facts.paths, by_size(facts.ranges)[0])),
        args.seconds / 2,
        args.engine,
        args.against_itself,
    )
    for depth in args.depth or DEPTHS:
        pairs = [check.pair(depth, i) for i in range(args.rounds)]
        print(json.dumps({"depth": depth, **row(pairs), "list_read_times": round(check.places.rounds, 2)}), flush=True)


def row(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """What is printed of one depth's (probe, fio)."""
    found = [probe / fio for probe, fio in pairs]
    sure = interval(found)
    return {
        "ratio": round(median(found), 3),
        "interval": None if sure is None else [round(sure.low, 3), round(sure.high, 3)],
        "probe_mb_s": [round(probe / 1e6) for probe, _ in pairs],
        "fio_mb_s": [round(fio / 1e6) for _, fio in pairs],
    }


if __name__ == "__main__":
    main()
