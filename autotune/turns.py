"""Comparing settings that need a new load: by whole turns of a conversation, each from a load of its own. Pure.

A turn is a load, a long prompt and the beginning of an answer. What counts is how long a usual turn would take by
the rates measured, since such settings trade prompts against answers (a larger prompt batch takes memory from the
experts). The settings before run as often, in turn, and win ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from autotune.machine import USUAL_ANSWER, USUAL_PROMPT
from autotune.race import SMALLEST_GAIN, surely
from autotune.result import Interval
from autotune.statistics import pooled_noise, ratio_interval

FEWEST_PAIRS = 2
MOST_PAIRS = 4
LEAST_DECODE = 0.98
"""Prompts may not become faster at the cost of answers: what decodes slower than this share is not chosen."""
PROMPT_LENGTHS = (1024, 512, 256, 128, 64)


@dataclass(frozen=True)
class TurnTime:
    """One measured turn: tokens per second of the prompt, seconds of each token of the answer after the first."""

    prompt_tok_s: float
    token_seconds: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """A usual turn at these rates."""
        return USUAL_PROMPT / self.prompt_tok_s + USUAL_ANSWER * fmean(self.token_seconds)


@dataclass
class TurnRace:
    """Turns of `base` and of `challengers`, by name, in the order they were made: the n-th ones make a pair."""

    base: str
    challengers: Sequence[str]
    turns: dict[str, list[TurnTime]] = field(default_factory=dict)

    def record(self, arm: str, turn: TurnTime) -> None:
        """Note a finished turn."""
        self.turns.setdefault(arm, []).append(turn)

    def drop(self, arm: str) -> None:
        """Take an arm that crashed or answered wrongly out."""
        self.challengers = [name for name in self.challengers if name != arm]

    def ratio(self, arm: str) -> Interval | None:
        """Speed of a usual turn against the base; None before there is a pair."""
        ratios = self._ratios(arm)
        return ratio_interval(ratios, *pooled_noise({a: self._ratios(a) for a in self.challengers})) if ratios else None

    def _ratios(self, arm: str) -> list[float]:
        pairs = zip(self.turns.get(self.base, ()), self.turns.get(arm, ()), strict=False)
        return [base.seconds / other.seconds for base, other in pairs]

    def decode_ratio(self, arm: str) -> float:
        """Decoding speed against the base over all pairs; 0 without one."""
        pairs = list(zip(self.turns.get(self.base, ()), self.turns.get(arm, ()), strict=False))
        if not pairs:
            return 0.0
        return sum(fmean(a.token_seconds) for a, _ in pairs) / sum(fmean(b.token_seconds) for _, b in pairs)

    def decided(self) -> bool:
        """Whether more pairs would not change the verdict."""
        found = [self.ratio(arm) for arm in self.challengers]
        return all(
            r is not None
            and r.count >= FEWEST_PAIRS
            and (surely(r) > SMALLEST_GAIN or r.high < SMALLEST_GAIN or r.count >= MOST_PAIRS)
            for r in found
        )

    def winner(self) -> str:
        """The arm to use by what has been recorded so far; the base unless another is reliably better."""
        best, reached = self.base, 0.0
        for arm in self.challengers:
            ratio = self.ratio(arm)
            if ratio is None or ratio.count < FEWEST_PAIRS or self.decode_ratio(arm) < LEAST_DECODE:
                continue
            if surely(ratio) > 1.0 and ratio.middle >= max(SMALLEST_GAIN, reached):
                best, reached = arm, ratio.middle
        return best


def longest_prompt(seconds: float, seconds_by_length: Mapping[int, float], pairs: int) -> int:
    """The longest prompt of which so many pairs fit into `seconds`; 0 if none does."""
    return max((n for n, each in seconds_by_length.items() if pairs * each <= seconds), default=0)
