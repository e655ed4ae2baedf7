"""Replay routing traces over eviction policies and cache sizes, against the best that is possible.

Policies: shipped (the engine's own), lru, turn-lru, lfu, decay:H (uses halved every H tokens), lirs, arc, 2q,
aged:H:A and mix:H1,H2:W:A (see docs/policy.md). Ratios are misses over those of Belady's optimal policy, which knows
the future, with one pool of the same size.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from engine.errors import SettingsError
from engine.simulation.comparison import POLICIES, SHARES, Case, Comparison, load_traces

BARS = (0.1, 0.3, 0.5, 0.7)
LOOKAHEADS = (1, 2, 3)


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("traces", nargs="+", type=Path, metavar="TRACE", help="files of `gannet trace`, one model")
    parser.add_argument("--policy", action="append", default=[], metavar="NAME", help="instead of the usual ones")
    parser.add_argument("--cache", action="append", type=float, default=[], metavar="PERCENT", help="[6 12 25 50]")
    parser.add_argument("--prompts", action="store_true", help="replay the prompts too, not decoded tokens alone")
    parser.add_argument("--json", action="store_true", help="print one object instead of tables")


def run(args: argparse.Namespace) -> int:
    """Replay and print."""
    shares = [percent / 100 for percent in args.cache] or list(SHARES)
    for share in shares:
        if not 0 < share <= 1:
            raise SettingsError(f"--cache {share * 100:g}: a percentage between 0 and 100 is needed")
    comparison = Comparison(load_traces(args.traces), args.prompts)
    rows = list(comparison.eviction(args.policy or POLICIES, shares))
    main = args.policy[0] if args.policy else "shipped"
    prefetches = [case for share in shares for case in comparison.prefetch(main, LOOKAHEADS, BARS, share)]
    if args.json:
        cases = [case for _, row in rows for case in row if case is not None]
        print(json.dumps([dataclasses.asdict(case) for case in cases + prefetches]))
        return 0
    also = f", {comparison.prompt_tokens} of prompts" if args.prompts else ""
    print(f"{comparison.tokens} decoded tokens{also}\n")
    _print_eviction(comparison, rows, shares)
    if args.prompts:
        print()
        _print_prompts(rows, shares)
    print()
    _print_prefetch(prefetches)
    return 0


def _print_eviction(comparison: Comparison, rows: list[tuple[str, list[Case | None]]], shares: list[float]) -> None:
    print("| misses over Belady's | " + " | ".join(f"{share:.0%}" for share in shares) + " |")
    print("|---|" + "---|" * len(shares))
    for name, row in rows:
        print(f"| {name} | " + " | ".join("" if case is None else f"{case.ratio:.3f}" for case in row) + " |")
    quotas = [
        f"{comparison.bound(s, True) / max(comparison.bound(s), 1):.3f}" if comparison.quotas_fit(s) else ""
        for s in shares
    ]
    print("| Belady, quotas | " + " | ".join(quotas) + " |")
    lookups = next(case.lookups for _, row in rows for case in row if case is not None)
    print("| Belady's miss rate | " + " | ".join(f"{comparison.bound(s) / lookups:.3f}" for s in shares) + " |")


def _print_prompts(rows: list[tuple[str, list[Case | None]]], shares: list[float]) -> None:
    print("| prompts: misses over Belady's | " + " | ".join(f"{share:.0%}" for share in shares) + " |")
    print("|---|" + "---|" * len(shares))
    for name, row in rows:
        print(f"| {name} | " + " | ".join("" if case is None else f"{case.prompt_ratio:.3f}" for case in row) + " |")
    full = [case for case in rows[0][1] if case is not None]
    rates = [f"{case.prompt_bound / max(case.prompt_lookups, 1):.3f}" for case in full]
    print("| Belady's miss rate | " + " | ".join(rates) + " |")


def _print_prefetch(cases: list[Case]) -> None:
    print("| cache | lookahead | bar | stalls / Belady | reads / Belady | useful |")
    print("|---|---|---|---|---|---|")
    for case in cases:
        prefetched = case.reads - case.misses
        useful = f"{case.useful / prefetched:.0%}" if prefetched else ""
        bar = f"{case.bar:g}" if case.lookahead else ""
        print(f"| {case.share:.0%} | {case.lookahead} | {bar} | {case.ratio:.3f} | {case.read_ratio:.3f} | {useful} |")
