"""Whether reading early pays on this machine, found out while answering. Pure: no clock, no threads.

Early reads hide the drive's time behind computing. On most machines that is all they do; on some they also cost: where
a drive's transfers take processor time or memory bandwidth away from computing (virtual machines whose host counts
I/O as their processor time, drives behind USB or a network), every wrong guess slows tokens down, and waiting less
does not make up for it. No counter of ours tells which machine this is, but the tokens do. So now and then a few
tokens are computed the other way, between others that are not, and where that is reliably faster, it stays.

A comparison takes the mean logarithm of the times of tokens: `BESIDE` before, `TRIED` the other way, as many after, one
left out after each change, when reads of the former way are still under way. Comparisons are added up until their mean
is `CERTAIN` standard errors from zero, or `COMPARISONS` have not decided; then nothing is tried for `CALM` tokens.
The first comparison waits for `SETTLING` tokens after a load: while the cache fills, a token without lookahead costs
the most and tells the least of what comes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, pvariance

BESIDE = 6
TRIED = 3
COMPARISONS = 6
CERTAIN = 2.5
SETTLING = 64
CALM = 400
"""The routing of a text moves, and memory and the drive are shared with others: a decision is looked at again."""
LEAST_NOISE = 0.03
"""Standard deviation of a token's logarithm of time that is assumed at least: a few alike say nothing of the rest."""


@dataclass(frozen=True)
class Comparison:
    """`gain`: logarithm of how many times as fast tokens were the other way. `error`: its standard error."""

    gain: float
    error: float

    @staticmethod
    def of(usual: Sequence[float], other: Sequence[float]) -> Comparison:
        """Of logarithms of times per token, at least one each."""
        noise = max(LEAST_NOISE, math.sqrt((pvariance(usual) * len(usual) + pvariance(other) * len(other)) / _FREE))
        return Comparison(fmean(usual) - fmean(other), noise * math.sqrt(1 / len(usual) + 1 / len(other)))


_FREE = BESIDE + TRIED + TRIED - 2
_BEFORE = BESIDE
_SWITCHED = _BEFORE + 1
_OTHER = _SWITCHED + TRIED
_BACK = _OTHER + 1
_AFTER = _BACK + TRIED


@dataclass
class LookaheadTrial:
    """Says before each token whether lookahead rests.

    Attributes:
        resting: whether early reads are left off for the next token.
        gain: how many times as fast tokens were with early reads as without, from the last comparisons; None: unknown.
    """

    resting: bool = False
    gain: float | None = None
    _chosen_rests: bool = False
    _times: list[float] = field(default_factory=list)
    _found: list[Comparison] = field(default_factory=list)
    _calm: int = SETTLING

    def observe(self, seconds: float) -> bool:
        """A decoded token took `seconds`; returns `resting`."""
        if self._calm > 0:
            self._calm -= 1
            return self.resting
        self._times.append(math.log(max(seconds, 1e-9)))
        n = len(self._times)
        if n in (_BEFORE, _OTHER):
            self.resting = not self.resting
        if n == _AFTER:
            usual = self._times[:_BEFORE] + self._times[_BACK:]
            self._decide(Comparison.of(usual, self._times[_SWITCHED:_OTHER]))
        return self.resting

    def begin_answer(self) -> bool:
        """Tokens of another text do not compare: drop a comparison that is not finished; returns `resting`."""
        self._times.clear()
        self.resting = self._chosen_rests
        return self.resting

    def _decide(self, comparison: Comparison) -> None:
        self._times.clear()
        self._found.append(comparison)
        mean = fmean(c.gain for c in self._found)
        error = math.sqrt(sum(c.error**2 for c in self._found)) / len(self._found)
        self.gain = math.exp(mean if self._chosen_rests else -mean)
        certain = abs(mean) > CERTAIN * error
        if certain and mean > 0:
            self._chosen_rests = self.resting = not self._chosen_rests
        if certain or len(self._found) == COMPARISONS:
            self._found.clear()
            self._calm = CALM
