"""Paired, noise-aware comparison of speeds. Pure.

Two arms that answered the same prompt computed the same tokens, so the ratio of their times is a fair figure even
where prompts differ much. The scatter of such ratios is the machine's noise; it is pooled over all arms, since an
arm alone has too few pairs to know it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from autotune.result import Interval

# Student's t, two-sided 95 %, by degrees of freedom from 1.
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09)
USUAL_NOISE = 0.10
"""Scatter of a log-ratio between runs of a few tokens on an ordinary machine: what is believed before measuring."""
USUAL_WEIGHT = 3
"""As many measurements the belief counts for: a few equal pairs by luck prove nothing."""
WIDEST = math.log(20)
"""An interval reaches at most a factor of 20 to each side: more says no more than "unknown"."""


def t_quantile(freedom: int) -> float:
    """Student's t for a two-sided 95 % interval."""
    if freedom < 1:
        return _T[0]
    return _T[freedom - 1] if freedom <= len(_T) else 1.96 + 2.5 / freedom


def paired_ratio(base_seconds: Sequence[float], arm_seconds: Sequence[float]) -> float:
    """Speed of the arm over the base on the tokens both computed; seconds per token, in order. Above 1 is faster."""
    n = min(len(base_seconds), len(arm_seconds))
    if n == 0:
        raise ValueError("no token that both computed")
    return sum(base_seconds[:n]) / sum(arm_seconds[:n])


def pooled_noise(ratios: Mapping[str, Sequence[float]]) -> tuple[float, int]:
    """(standard deviation of a log-ratio around its arm's mean, degrees of freedom) over all arms."""
    squares, freedom = USUAL_WEIGHT * USUAL_NOISE**2, USUAL_WEIGHT
    for values in ratios.values():
        logs = [math.log(v) for v in values]
        mean = sum(logs) / max(1, len(logs))
        squares += sum((x - mean) ** 2 for x in logs)
        freedom += max(0, len(logs) - 1)
    return math.sqrt(squares / freedom), freedom


def ratio_interval(ratios: Sequence[float], noise: float, freedom: int) -> Interval:
    """The middle of an arm's paired ratios and where its true ratio lies, 95 %. Raises ValueError without ratios."""
    logs = sorted(math.log(r) for r in ratios)
    middle = median(logs)
    # The median of normal values scatters a little more than their mean: sqrt(pi / 2) for many, 1 for up to two.
    wider = 1.0 if len(logs) < 3 else math.sqrt(math.pi / 2)
    reach = min(WIDEST, t_quantile(freedom) * wider * noise / math.sqrt(len(logs)))
    return Interval(
        middle=math.exp(middle), low=math.exp(middle - reach), high=math.exp(middle + reach), count=len(logs)
    )


def speed_interval(runs_tok_s: Sequence[float]) -> Interval | None:
    """Median and range of an arm's own speeds, for drawing; None without runs."""
    if not runs_tok_s:
        return None
    return Interval(middle=median(runs_tok_s), low=min(runs_tok_s), high=max(runs_tok_s), count=len(runs_tok_s))
