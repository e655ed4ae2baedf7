"""How a time budget is spent: how long to probe, how many arms, how many tokens a run. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.race import FEWEST_CONFIRMATIONS

PROBE_SHARE = 0.17
PROBE_SECONDS = 26.0
"""What the probes take at scale 1 on an ordinary machine (their bounds are far higher)."""
PROBE_LIMIT = 0.3
"""Share of the budget after which no further probe is begun, on a machine that is much slower than that."""
PREPARE_SHARE = 0.25
BASELINE_SHARE = 0.15
"""Of the budget, what the defaults' first answers may take together."""
CONFIRM_SHARE = 0.4
"""Of the time for measuring, what is kept for the last comparison."""
PRESET_SHARE = 0.12
"""Of the time for measuring, what is kept for measuring the presets' smaller caches."""
TURN_SHARE = 0.35
"""And for settings that need a new load, where one of them promises something."""
CONFIRM_RUNS = 4 * FEWEST_CONFIRMATIONS
"""Runs that the last comparison is planned for: twice as many pairs as it needs at least."""
MOST_ARMS = 8
FEWEST_ARMS = 2
MOST_TOKENS = 24
MOST_FAST_TOKENS = 96
GOOD_RUN_SECONDS = 1.0
"""A run of `MOST_TOKENS` that takes less than this may be longer: a fraction of a second says little."""
GOOD_TOKENS = 6
"""Fewer tokens a run say little: rather fewer arms."""
RUN_OVERHEAD_SECONDS = 0.3


@dataclass(frozen=True)
class Pace:
    """`arms` to start with (the defaults included); `tokens` a run while halving and in the last comparison."""

    arms: int
    tokens: int
    confirm_tokens: int


def probe_scale(budget_s: float) -> float:
    """By what factor the probes' measuring times are shortened."""
    return max(0.1, min(1.0, PROBE_SHARE * budget_s / PROBE_SECONDS))


def halving_runs(arms: int, prompts: int) -> int:
    """Runs until one challenger is left beside the defaults."""
    total = 0
    while arms > 2:
        total += arms * prompts
        arms = 1 + max(1, (arms - 1) // 2)
    return total


def pace(measure_s: float, token_s: float, prompts: int) -> Pace:
    """The most arms that leave a run enough tokens. `token_s`: a token of the defaults, measured."""
    for arms in range(MOST_ARMS, FEWEST_ARMS, -1):
        tokens = _tokens(measure_s * (1 - CONFIRM_SHARE), halving_runs(arms, prompts), token_s)
        if tokens >= GOOD_TOKENS:
            return Pace(arms, tokens, _tokens(measure_s * CONFIRM_SHARE, CONFIRM_RUNS, token_s))
    tokens = _tokens(measure_s, CONFIRM_RUNS, token_s)
    return Pace(FEWEST_ARMS, tokens, tokens)


def _tokens(seconds: float, runs: int, token_s: float) -> int:
    """Tokens of each of so many runs; one more is computed but not measured."""
    most = max(MOST_TOKENS, min(MOST_FAST_TOKENS, int(GOOD_RUN_SECONDS / max(token_s, 1e-6))))
    return max(2, min(most, int((seconds / runs - RUN_OVERHEAD_SECONDS) / max(token_s, 1e-6)) - 1))


def run_limit(tokens: int, token_s: float) -> float:
    """Seconds after which a run is cut: an arm three times as slow as the defaults has shown enough."""
    return max(1.0, 3.0 * (tokens + 1) * token_s)
