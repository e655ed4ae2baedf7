"""Measure which settings are fastest for a model on this machine.

Probes the machine, measures candidates on the model itself against the settings you give (or the defaults), and
changes nothing that is not reliably faster. The result is kept for the model and shown with `--show`.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Sequence

from autotune.facts import facts_of
from autotune.result import Accuracy, Arm, Phase, TuneEvent, TuneResult
from autotune.store import TuningStore, current_fingerprint
from autotune.tuner import DEFAULT_BUDGET_S, SHORTEST_BUDGET_S, tune
from engine.cli.interrupts import on_interrupt
from engine.cli.loading import ProgressLine
from engine.cli.parser import Parser, add_model, add_settings, settings_from
from engine.errors import SettingsError
from engine.gguf import ModelFiles, open_model


def run(arguments: Sequence[str]) -> int:
    """Run `gannet tune`."""
    if list(arguments) == ["--worker"]:
        from autotune import worker

        worker.main()
        return 0
    args = _parser().parse_args(list(arguments))
    files = open_model(args.model)
    if args.show:
        return _show(files, args.json)
    if args.budget < SHORTEST_BUDGET_S:
        raise SettingsError(f"--budget {args.budget:g}: a tuning needs at least {SHORTEST_BUDGET_S:.0f} seconds")
    result = _tune(files, args)
    print(result.model_dump_json(indent=1) if args.json else report(result))
    return 1 if result.cancelled else 0


def _parser() -> Parser:
    parser = Parser(prog="gannet tune", description=__doc__)
    add_model(parser)
    parser.add_argument("--budget", type=float, default=DEFAULT_BUDGET_S, metavar="SECONDS", help="time to take [180]")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--events", action="store_true", help="print every step as a JSON line on stderr")
    parser.add_argument("--show", action="store_true", help="show the kept result and whether it still holds")
    parser.add_argument("--no-save", action="store_true", help="do not keep the result")
    add_settings(parser)
    return parser


def _tune(files: ModelFiles, args: argparse.Namespace) -> TuneResult:
    line, given_up = ProgressLine(), threading.Event()

    def show(event: TuneEvent) -> None:
        if args.events:
            print(event.model_dump_json(exclude_none=True), file=sys.stderr, flush=True)
        elif event.phase not in {Phase.DONE, Phase.CANCELLED, Phase.FAILED}:
            line.show(event.fraction, event.message)

    settings = settings_from(args, files)
    try:
        with on_interrupt(given_up.set):
            result = tune(files, settings, budget_s=args.budget, report=show, cancelled=given_up.is_set)
    finally:
        line.clear()
    if not result.cancelled and not args.no_save:
        TuningStore().save(facts_of(files), result)
    return result


def _show(files: ModelFiles, as_json: bool) -> int:
    facts = facts_of(files)
    stored = TuningStore().find(facts, current_fingerprint(files))
    if stored is None:
        raise SettingsError(f"{files.path.name} has not been tuned here; `gannet tune {files.path}` does it")
    if as_json:
        print(json.dumps({"stale": list(stored.stale), "result": stored.result.model_dump(mode="json")}, indent=1))
        return 0
    print(report(stored.result))
    if stored.stale:
        print(f"No longer valid, tune again; changed since: {'; '.join(stored.stale)}")
    return 0


def report(result: TuneResult) -> str:
    """The result for a person: a table of the arms, the reason, the presets."""
    lines = [f"{'settings':44} {'tokens/s':>9} {'runs':>5} {'ratio':>20}  state"]
    lines += [_arm_line(arm) for arm in result.arms]
    lines += ["", result.reason]
    if result.chosen:
        lines.append("Chosen: " + ", ".join(f"{name} = {value}" for name, value in result.chosen.items()))
    if result.accuracy is not None:
        lines.append(_accuracy(result.accuracy))
    if result.roofline_tok_s:
        lines.append(f"No engine could exceed {result.roofline_tok_s:.1f} tokens/s here with this much memory.")
    lines += [f"  {preset.title}: {preset.summary}" for preset in result.presets]
    lines += [f"note: {note}" for note in result.notes]
    return "\n".join(lines)


def _accuracy(error: Accuracy) -> str:
    parts = []
    if error.uncalibrated_error is not None:
        parts.append(f"{error.uncalibrated_error:.0%} before the first answer")
    if error.median_error is not None and error.worst_error is not None:
        parts.append(f"then {error.median_error:.0%} (median of {error.arms}), {error.worst_error:.0%} at worst")
    return f"The machine model was off by {', '.join(parts)}."


def _arm_line(arm: Arm) -> str:
    speed = f"{arm.decode_tok_s.middle:9.2f}" if arm.decode_tok_s else f"{'-':>9}"
    ratio = f"{arm.ratio.middle:.2f} ({arm.ratio.low:.2f}-{arm.ratio.high:.2f})" if arm.ratio else ""
    error = f": {arm.error}" if arm.error else ""
    return f"{arm.name:44.44} {speed} {len(arm.runs_tok_s):5} {ratio:>20}  {arm.state}{error}"
