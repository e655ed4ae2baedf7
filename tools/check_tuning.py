"""Checks a tuning: its chosen settings against those it began with, interleaved, on prompts the tuner never saw.

    tools/memlimit 8G gannet tune MODEL --json > result.json
    tools/memlimit 8G python -m tools.check_tuning result.json [--pairs 10] [--tokens 16]

Prints every pair's ratio of speeds, their median, and whether the answers were the same. Two runs in a row never
share a prompt, and who goes first alternates. Settings that need a new load (a prompt batch) are compared by whole
turns of a conversation: load, a prompt of 256 tokens, an answer.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median

from autotune.control import Control
from autotune.result import TuneResult
from autotune.turns import TurnTime
from autotune.workbench import ProcessBench
from engine.settings import live_settings

TURN_TOKENS = 256
TEXTS = (
    "Once upon a time a fox and a gannet",
    "The three laws of thermodynamics say",
    "SELECT name, price FROM fruit WHERE",
    "To repair a bicycle tyre you first",
    "Minutes of the meeting held on Monday",
)


def main() -> None:
    """Run the check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=16)
    args = parser.parse_args()
    result = TuneResult.model_validate_json(args.result.read_text(encoding="utf-8"))
    base, tuned = result.base, result.base | result.chosen
    bench, control, path = ProcessBench(), Control(), Path(result.model_path)
    try:
        if set(result.chosen) <= live_settings():
            bench.load(path, tuned, control)
            bench.prepare(tuned, 300.0, control, TEXTS)
            pairs = [_pair(bench, control, base, tuned, i, args.tokens) for i in range(args.pairs)]
        else:
            pairs = [_turns(bench, control, path, base, tuned, i, args.tokens) for i in range(args.pairs)]
    finally:
        bench.close()
    ratios = [ratio for ratio, _, _, _ in pairs]
    print(
        json.dumps(
            {
                "chosen": result.chosen,
                "base_tok_s": [round(a, 3) for _, a, _, _ in pairs],
                "tuned_tok_s": [round(b, 3) for _, _, b, _ in pairs],
                "ratios": [round(ratio, 3) for ratio in ratios],
                "median_ratio": round(median(ratios), 3),
                "identical": all(same for *_, same in pairs),
            }
        )
    )


def _pair(
    bench: ProcessBench, control: Control, base: dict[str, object], tuned: dict[str, object], i: int, tokens: int
) -> tuple[float, float, float, bool]:
    """(ratio, base speed, tuned speed, same answer) on one prompt; other prompts are run before each of the two."""
    n = len(TEXTS)
    speeds, answers = {}, {}
    for name in ("base", "tuned") if i % 2 else ("tuned", "base"):
        settings = base if name == "base" else tuned
        bench.run(settings, (i + 1 + i // n) % n, tokens // 2, 300.0, control)
        run = bench.run(settings, i % n, tokens, 300.0, control)
        speeds[name], answers[name] = len(run.seconds) / sum(run.seconds), run.tokens
    return speeds["tuned"] / speeds["base"], speeds["base"], speeds["tuned"], answers["base"] == answers["tuned"]


def _turns(
    bench: ProcessBench,
    control: Control,
    path: Path,
    base: dict[str, object],
    tuned: dict[str, object],
    i: int,
    tokens: int,
) -> tuple[float, float, float, bool]:
    """The same by whole turns; speeds are usual turns a second."""
    found = {}
    for name in ("base", "tuned") if i % 2 else ("tuned", "base"):
        settings = base if name == "base" else tuned
        found[name] = bench.turn(path, settings, TURN_TOKENS, tokens, 300.0, control)
    speeds = {name: 1.0 / TurnTime(turned.prompt_tok_s, turned.seconds).seconds for name, turned in found.items()}
    same = found["base"].tokens == found["tuned"].tokens
    return speeds["tuned"] / speeds["base"], speeds["base"], speeds["tuned"], same


if __name__ == "__main__":
    main()
