"""Measure how fast a model runs here, and whether the claims about Gannet's speed hold.

Each suite compares ways to run the model. Every run has a process of its own, the ways take turns, and each must
write the same tokens as stock llama.cpp. Memory limits and an empty page cache take root on Linux; without, a line says
so. A long measurement can be done in slices: --results appends to a file, --report merges files into tables.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

from engine.bench import measuring, page, report, results, schedule
from engine.bench.claims import same_text
from engine.bench.results import ArmRecord, Record, of_kind
from engine.bench.suites import SMALL_CACHES, SUITES, Suite
from engine.cli.loading import ProgressLine
from engine.errors import SettingsError
from engine.gguf import ModelFiles, open_model
from engine.sizes import parse_size

_DEMO_MODEL = Path(__file__).resolve().parents[2] / "assets" / "demo-moe.gguf"
_DRIVE_SECONDS = 1.0


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    suites = ", ".join(SUITES)
    parser.add_argument("model", type=Path, nargs="?", default=_DEMO_MODEL, help="a GGUF file [the demo model]")
    parser.add_argument("--suite", action="append", choices=tuple(SUITES), metavar="NAME", help=f"{suites} [cache]")
    parser.add_argument("--pairs", type=int, default=5, metavar="N", help="how often each way runs [5]")
    parser.add_argument("--cache", action="append", metavar="SIZE", help="cache sizes to compare [those of the suite]")
    parser.add_argument("--limit", default="8G", metavar="SIZE", help="memory limit of Gannet's runs; 0: none [8G]")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="only ways whose name has this")
    parser.add_argument("--tokens", type=int, metavar="N", help="tokens to decode [the suite's number]")
    parser.add_argument("--prompt-tokens", type=int, metavar="N", help="length of the prompt [the suite's]")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="begin no round that would end later")
    parser.add_argument("--drive", action="store_true", help="measure the drive by size and depth of reads, no suite")
    parser.add_argument("--results", type=Path, metavar="FILE", help="append each run's figures to this file")
    parser.add_argument("--report", type=Path, nargs="+", metavar="FILE", help="measure nothing; tables of these files")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables into a page")
    parser.add_argument("--json", action="store_true", help="print each run's figures as a line of JSON, no tables")
    parser.add_argument("--arm", action="store_true", help=argparse.SUPPRESS)  # a child: its task comes on stdin


def run(args: argparse.Namespace) -> int:
    """0, or 1 if a run failed or wrote other tokens than stock llama.cpp."""
    if args.arm:
        return measuring.main()
    if args.report:
        records = results.read(args.report)
    else:
        _check(args)
        records = list(_measure(args, open_model(args.model)))
    found = report.tables(records)
    if args.markdown is not None:
        page.write(args.markdown, report.as_markdown(found))
    if args.json:
        for record in records:
            print(results.to_line(record))
    else:
        print(report.as_text(found), end="")
    return 1 if _went_wrong(of_kind(records, ArmRecord)) else 0


def _check(args: argparse.Namespace) -> None:
    for option, value in (("--pairs", args.pairs), ("--tokens", args.tokens), ("--prompt-tokens", args.prompt_tokens)):
        if value is not None and value < 1:
            raise SettingsError(f"{option} {value}: at least 1 is needed")


def _measure(args: argparse.Namespace, files: ModelFiles) -> Iterator[Record]:
    line = ProgressLine()
    try:
        for record in _records(args, files, line):
            if args.results is not None:
                results.append(args.results, record)
            yield record
    finally:
        line.clear()


def _records(args: argparse.Namespace, files: ModelFiles, line: ProgressLine) -> Iterator[Record]:
    if args.drive:
        line.say("Measuring the drive")
        yield from schedule.drive_records(files, _DRIVE_SECONDS)
        return
    earlier = results.read([args.results]) if args.results is not None and args.results.exists() else []
    limit = parse_size(args.limit).nbytes or None
    for name in args.suite or ["cache"]:
        suite = chosen(SUITES[name], args, files)
        done = tuple(r.origin.arm for r in of_kind(earlier, ArmRecord) if r.origin.suite == name)
        yield from schedule.run(schedule.Plan(files, suite, args.pairs, limit, args.budget, done), line.say)


def chosen(suite: Suite, args: argparse.Namespace, files: ModelFiles) -> Suite:
    """The suite as the command line changes it. Raises `SettingsError` if nothing is left of it."""
    caches = tuple(args.cache or _fitting(suite.caches, files))
    for cache in caches:
        parse_size(cache)
    suite = suite.expanded(caches)
    arms = [arm for arm in suite.arms if not args.only or any(text in arm.name for text in args.only)]
    if not arms:
        names = ", ".join(f"'{arm.name}'" for arm in suite.arms)
        raise SettingsError(f"--only: the suite {suite.name} has {names}")
    suite = dataclasses.replace(suite, arms=tuple(arms), prompt_tokens=args.prompt_tokens or suite.prompt_tokens)
    return suite if args.tokens is None else shortened(suite, args.tokens)


def shortened(suite: Suite, tokens: int) -> Suite:
    """The suite with no arm decoding more than `tokens`; at least one of them is counted."""
    most_warm = max(0, tokens - 2)
    arms = (
        arm
        if arm.tokens is None
        else dataclasses.replace(arm, tokens=min(arm.tokens, tokens), warm_tokens=min(arm.warm_tokens or 0, most_warm))
        for arm in suite.arms
    )
    return dataclasses.replace(suite, arms=tuple(arms), tokens=tokens, warm_tokens=min(suite.warm_tokens, most_warm))


def _fitting(caches: tuple[str, ...], files: ModelFiles) -> tuple[str, ...]:
    """Cache sizes that say something about this model: shares where one would hold every expert."""
    experts = sum(expert.tensor.nbytes for expert in files.experts())
    fits = all(parse_size(cache).resolve(experts) < experts for cache in caches)
    return caches if fits else SMALL_CACHES[: len(caches)]


def _went_wrong(runs: list[ArmRecord]) -> bool:
    for run in runs:
        if run.error:
            print(f"gannet: {run.origin.arm} failed: {run.error}", file=sys.stderr)
    different = same_text(runs, runs) is False
    if different:
        print("gannet: not every run wrote the tokens that stock llama.cpp writes", file=sys.stderr)
    return different or any(run.error for run in runs)
