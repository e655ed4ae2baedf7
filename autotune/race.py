"""Successive halving with the defaults always in the race. Pure: says what to run next and, at the end, who won.

Every arm still in the race answers the same prompts in the same order, one run each in turn (so a drive or a
neighbour that changes its mood hits all alike). After a round the worse half leaves. When one arm is left beside
the defaults, the two run against each other until it is certain or the time is over; only those last runs count for
the verdict, so that luck in being chosen does not count. The defaults win ties.

Source of the scheme: Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", 2013.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from autotune.result import Interval
from autotune.statistics import paired_ratio, pooled_noise, ratio_interval

SMALLEST_GAIN = 1.02
"""A change that promises less than this is not worth having."""
FEWEST_CONFIRMATIONS = 3
MOST_CONFIRMATIONS = 12
LOOKS = 1.2
"""The interval counts as so much wider when a change is adopted: after every few pairs there is a chance to stop, and
four looks at 95 % would be wrong twice as often as one (Pocock, "Group sequential methods", 1977)."""


@dataclass(frozen=True)
class Turn:
    """One run to make: which arm, which prompt, and whether it belongs to the final comparison."""

    arm: str
    prompt: int
    confirming: bool


@dataclass(frozen=True)
class Verdict:
    """`winner` and `because`: "faster", "tie", "slower", "alone" or "too few" (no time for enough pairs).

    `best` is the arm that ran against the defaults at the end, `ratio` what it reached.
    """

    winner: str
    because: str
    best: str | None
    ratio: Interval | None


def surely(ratio: Interval) -> float:
    """The lower end of a ratio's interval where it was looked at more than once."""
    return ratio.middle * math.pow(ratio.low / ratio.middle, LOOKS)


@dataclass
class Race:
    """`arms` in the order of promise, the defaults' name first. `n_prompts` prompts are used in turn."""

    arms: Sequence[str]
    n_prompts: int
    running: list[str] = field(default_factory=list)
    _seconds: dict[tuple[str, bool], dict[tuple[int, int], tuple[float, ...]]] = field(default_factory=dict)
    _blocks: int = 0
    _next_prompt: int = 0

    def __post_init__(self) -> None:
        if len(set(self.arms)) != len(self.arms) or not self.arms:
            raise ValueError("arms need different names")
        self.running = list(self.arms)

    @property
    def default(self) -> str:
        """The name of the defaults."""
        return self.arms[0]

    def round(self) -> list[Turn]:
        """The runs of the next round of halving; empty when it is time to confirm."""
        if len(self.running) <= 2:
            return []
        return self._turns(self.running, confirming=False)

    def confirmation(self) -> list[Turn]:
        """The last arm against the defaults once more on every prompt; empty when there is nothing to compare."""
        if len(self.running) < 2:
            return []
        self._blocks += 1  # who goes first alternates
        return self._turns(self.running[:2] if self._blocks % 2 else self.running[1::-1], confirming=True)

    def _turns(self, arms: Sequence[str], *, confirming: bool) -> list[Turn]:
        """Every arm on every prompt, arms in turn, and the prompts always in the same cycle, from round to round.

        So no run finds the experts that its own prompt has just brought into the cache, and for every run it is
        equally long ago. Where the number of arms would give an arm the same prompts again, the arms move on by one.
        """
        k, n = len(arms), self.n_prompts
        common = math.gcd(k, n)
        return [
            Turn(arms[(i + p * common // n) % k], (self._next_prompt + p * k + i) % n, confirming)
            for p in range(n)
            for i in range(k)
        ]

    def record(self, turn: Turn, token_seconds: Sequence[float]) -> None:
        """Note the seconds of each token of a run."""
        runs = self._seconds.setdefault((turn.arm, turn.confirming), {})
        number = sum(prompt == turn.prompt for prompt, _ in runs)
        runs[turn.prompt, number] = tuple(token_seconds)
        self._next_prompt = (turn.prompt + 1) % self.n_prompts

    def drop(self, arm: str) -> None:
        """Take an arm that crashed or answered wrongly out of the race."""
        if arm in self.running and arm != self.default:
            self.running.remove(arm)

    def ratios(self, arm: str, *, confirming: bool | None = None) -> list[float]:
        """The arm's paired ratios to the defaults; `confirming` limits them to one phase."""
        phases = (False, True) if confirming is None else (confirming,)
        found = []
        for phase in phases:
            base, runs = self._seconds.get((self.default, phase), {}), self._seconds.get((arm, phase), {})
            found += [paired_ratio(base[key], runs[key]) for key in sorted(runs) if key in base and runs[key]]
        return found

    def interval(self, arm: str, *, confirming: bool | None = None) -> Interval | None:
        """The arm's ratio to the defaults, or None before both have answered one prompt."""
        ratios = self.ratios(arm, confirming=confirming)
        return ratio_interval(ratios, *self._noise()) if ratios else None

    def _noise(self) -> tuple[float, int]:
        return pooled_noise({a: self.ratios(a) for a in self.arms if a != self.default})

    def halve(self) -> list[str]:
        """End a round: the worse half of the challengers leaves, at least one stays. Returns who left."""
        challengers = [a for a in self.running if a != self.default]
        order = sorted(challengers, key=self._score, reverse=True)
        keep = max(1, len(order) // 2)
        self.running = [self.default, *order[:keep]]
        return order[keep:]

    def _score(self, arm: str) -> float:
        """Mean of the log-ratios; an arm without a pair comes last. Earlier arms win ties by the sort's stability."""
        ratios = self.ratios(arm)
        return sum(math.log(r) for r in ratios) / len(ratios) if ratios else -math.inf

    def decided(self) -> bool:
        """Whether more confirming pairs would not change the verdict."""
        if len(self.running) < 2:
            return True
        ratio = self.interval(self.running[1], confirming=True)
        if ratio is None or ratio.count < FEWEST_CONFIRMATIONS:
            return False
        return surely(ratio) > SMALLEST_GAIN or ratio.high < SMALLEST_GAIN or ratio.count >= MOST_CONFIRMATIONS

    def verdict(self) -> Verdict:
        """Who won by what has been recorded so far."""
        if len(self.running) < 2:
            return Verdict(self.default, "alone", None, None)
        best = self.running[1]
        ratio = self.interval(best, confirming=True)
        if ratio is None or ratio.count < FEWEST_CONFIRMATIONS:
            return Verdict(self.default, "too few", best, ratio or self.interval(best))
        if surely(ratio) > 1.0 and ratio.middle >= SMALLEST_GAIN:
            return Verdict(best, "faster", best, ratio)
        return Verdict(self.default, "slower" if ratio.high < 1.0 else "tie", best, ratio)
