"""Two settings that take turns within the same answers: the most exact comparison of settings of a loaded model. Pure.

Whole runs one after the other scatter: whoever answers a prompt second finds experts in the cache that the first has
brought in, and a drive that others use as well moves between two runs. Here both settings share one answer, a few
tokens each in turn (A B B A ...), so they have the same cache and the same minute. Then the answers are computed once
more with the settings swapped: every token is computed by both, each is first as often as the other, and the same
tokens must come out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from autotune.result import Interval

FEWEST_RATIOS = 6
"""Of fewer no interval of 95 % can be had without assuming how they scatter."""
PASSES = 2
SHORTEST_BLOCK = 6
SETTLED_SECONDS = 2.0
"""A block takes so long if it can: the engine's measure of how idle the drive is follows within a second."""
SHARE_LEFT_OUT = 0.25
"""Of a block's tokens, what is left out at its beginning: reads of the other settings are still under way."""


class Side(Enum):
    """Which of the two settings computes."""

    BASE = "base"
    TUNED = "tuned"

    @property
    def other(self) -> Side:
        """The other one."""
        return Side.TUNED if self is Side.BASE else Side.BASE


@dataclass(frozen=True)
class Block:
    """A few tokens of an answer: of which text, in which pass, the how many-th of that answer, by whom."""

    text: int
    passing: int
    number: int
    side: Side


@dataclass(frozen=True)
class Plan:
    """How long the answers are. `blocks` of an answer (an even number) have `tokens` tokens each."""

    texts: int
    blocks: int
    tokens: int

    @property
    def left_out(self) -> int:
        """Tokens at the beginning of a block that do not count."""
        return max(2, round(SHARE_LEFT_OUT * self.tokens))

    def answers(self) -> list[list[Block]]:
        """Every answer as its blocks, in the order to compute them: all texts, then all once more, swapped."""
        return [self._answer(text, passing) for passing in range(PASSES) for text in range(self.texts)]

    def _answer(self, text: int, passing: int) -> list[Block]:
        first = Side.BASE if (text + passing) % 2 == 0 else Side.TUNED
        sides = (first, first.other, first.other, first)
        return [Block(text, passing, n, sides[n % len(sides)]) for n in range(self.blocks)]


def plan(seconds: float, token_s: float, texts: int, room: int) -> Plan | None:
    """What fits into `seconds` at `token_s` a token, at most `room` tokens an answer; None if two blocks do not fit."""
    tokens = max(SHORTEST_BLOCK, math.ceil(SETTLED_SECONDS / token_s))
    for used in range(texts, 0, -1):
        answer = min(room, int(seconds / token_s / (PASSES * used)))
        blocks = answer // tokens // 2 * 2
        if blocks >= 2:
            return Plan(used, blocks, tokens)
    return None


def ratios(measured: Iterable[tuple[Block, float]]) -> list[float]:
    """Speed of tuned over base, once for every two neighbouring blocks that both passes have computed.

    `measured`: blocks and the mean seconds of a token of each. The same tokens are compared, and in one of the two
    blocks base was first, in the other tuned: what the second pass gains from the first cancels out.
    """
    seconds: dict[tuple[int, int], dict[tuple[int, Side], float]] = {}
    for block, token_s in measured:
        seconds.setdefault((block.text, block.number // 2), {})[block.number % 2, block.side] = token_s
    return [
        math.sqrt(math.prod(pair[n, Side.BASE] / pair[n, Side.TUNED] for n in range(2)))
        for _, pair in sorted(seconds.items())
        if len(pair) == 2 * PASSES
    ]


def interval(found: Sequence[float]) -> Interval | None:
    """The middle of ratios and where the true one lies with 95 %; None for fewer than six.

    Hodges and Lehmann's estimate on the logarithms with Wilcoxon's interval (Hollander and Wolfe, "Nonparametric
    Statistical Methods", section 3.3): the means of all pairs in order. A ratio that something else spoiled moves it
    little, and nothing is assumed of how they scatter but that they do so evenly to both sides.
    """
    n = len(found)
    if n < FEWEST_RATIOS:
        return None
    logs = [math.log(ratio) for ratio in found]
    means = sorted((logs[i] + logs[j]) / 2 for i in range(n) for j in range(i, n))
    cut = max(0, math.floor(len(means) / 2 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)))
    middle = (means[(len(means) - 1) // 2] + means[len(means) // 2]) / 2
    return Interval(middle=math.exp(middle), low=math.exp(means[cut]), high=math.exp(means[-1 - cut]), count=n)
