"""Learn from a trace what the lookahead gets wrong about a model, and keep it for the engine to use.

TRACE is a file of `gannet trace MODEL --hidden SIZE`. For each layer and distance a small correction of the router is
fitted on the first 60 % of the decoded tokens and everything before them, chosen by the next 20 % and tested on the
last 20 %: the table shows what share of the experts that were used each had among its best. What does not help is not
kept.
The answers of the model never depend on it. `--no-lookahead-correction` turns it off, `--remove` deletes it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from engine.census import fingerprint
from engine.cli.loading import ProgressLine
from engine.cli.parser import add_model
from engine.errors import GannetError, SettingsError
from engine.gguf import open_model
from engine.lookahead.correction import MOST_DISTANCES, Correction, LookaheadCorrection, Place, place_of
from engine.lookahead.fit import Fit, Outcome
from engine.places import state_folder
from engine.trace.format import RoutingTrace, load


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_model(parser)
    parser.add_argument("trace", type=Path, nargs="?", metavar="TRACE", help="a trace of this model with hidden states")
    parser.add_argument("--distance", type=int, default=3, metavar="LAYERS", help="fit up to so many layers ahead [3]")
    parser.add_argument("--no-save", action="store_true", help="only print what it would bring")
    parser.add_argument("--remove", action="store_true", help="forget what was learnt about the model")
    parser.add_argument("--json", action="store_true", help="print one object instead of a table")


def run(args: argparse.Namespace) -> int:
    """Fit, print and keep."""
    model = fingerprint(open_model(args.model))
    path = place_of(state_folder(), model)
    if args.remove:
        path.unlink(missing_ok=True)
        return 0
    if args.trace is None:
        raise SettingsError("give a trace: record one with gannet trace MODEL --hidden 512MiB --out FILE")
    if not 1 <= args.distance <= MOST_DISTANCES:
        raise SettingsError(f"--distance {args.distance}: 1 to {MOST_DISTANCES} layers ahead can be fitted")
    trace = load(args.trace)
    _check_model(model, trace, args.trace)
    outcomes, parts = _fit(trace, args.trace, range(1, args.distance + 1))
    _print(outcomes, args.json)
    if not args.no_save:
        _save(path, model, trace, parts)
    return 0


def _check_model(model: str, trace: RoutingTrace, path: Path) -> None:
    if trace.hidden is None:
        raise GannetError(f"{path}: no hidden states; record it again with gannet trace MODEL --hidden 512MiB")
    if trace.hidden.model != model:
        raise GannetError(f"{path}: a trace of another model ({trace.model}); record one of this model")


def _fit(trace: RoutingTrace, path: Path, distances: Iterable[int]) -> tuple[list[Outcome], dict[Place, Correction]]:
    line = ProgressLine()
    outcomes, parts = [], {}
    try:
        fit = Fit(trace)
        for outcome, part in fit.run(list(distances)):
            line.show(outcome.layer / fit.n_layers, "Fitting")
            outcomes.append(outcome)
            if part is not None:
                parts[outcome.layer, outcome.distance] = part
    except ValueError as error:
        raise GannetError(f"{path}: {error}; record more with gannet trace MODEL --hidden 512MiB") from error
    finally:
        line.clear()
    if not outcomes:
        raise GannetError(f"{path}: no two routers of this model are understood, so there is nothing to fit")
    return sorted(outcomes, key=lambda o: (o.layer, o.distance)), parts


def _save(path: Path, model: str, trace: RoutingTrace, parts: dict[Place, Correction]) -> None:
    assert trace.hidden is not None, "checked before"
    if not parts:
        path.unlink(missing_ok=True)
        print("nothing helped, so nothing is kept", file=sys.stderr)
        return
    width = trace.hidden.stream.shape[2]
    found = LookaheadCorrection(model, len(trace.layers), trace.n_experts, width, parts)
    found.save(path)
    print(f"{path}: {len(parts)} corrections, used from the next load on", file=sys.stderr)


def _print(outcomes: list[Outcome], as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(outcome) for outcome in outcomes]))
        return
    distances = sorted({outcome.distance for outcome in outcomes})
    print("Recall of the experts used, on tokens that nothing was fitted on\n")
    print("| layer | " + " | ".join(f"{d} ahead | corrected | rank" for d in distances) + " |")
    print("|---" * (1 + 3 * len(distances)) + "|")
    for layer in sorted({outcome.layer for outcome in outcomes}):
        by_distance = {o.distance: o for o in outcomes if o.layer == layer}
        print(f"| {layer} | " + " | ".join(_cells(by_distance.get(d)) for d in distances) + " |")
    print("| all | " + " | ".join(_mean([o for o in outcomes if o.distance == d]) for d in distances) + " |")


def _cells(outcome: Outcome | None) -> str:
    if outcome is None:
        return " | | "
    rank = "none" if outcome.rank is None else str(outcome.rank)
    return f"{outcome.without:.3f} | {outcome.corrected:.3f} | {rank}"


def _mean(outcomes: list[Outcome]) -> str:
    n = len(outcomes)
    return f"{sum(o.without for o in outcomes) / n:.3f} | {sum(o.corrected for o in outcomes) / n:.3f} | "
