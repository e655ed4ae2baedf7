"""How much of a prompt a saved state spares: pure arithmetic on token ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.int32]

# Restoring a state costs copying it; sparing fewer tokens than this is not worth it.
WORTH_RESTORING = 32
# A conversation of fewer tokens is computed again sooner than it is found.
WORTH_KEEPING = 32


@dataclass(frozen=True, slots=True)
class Held:
    """Tokens whose state is at hand. `cuttable`: the state can be cut back to any of its tokens."""

    key: str
    tokens: Tokens
    cuttable: bool


def common_prefix(a: Tokens, b: Tokens) -> int:
    """Number of equal leading tokens."""
    length = min(len(a), len(b))
    differing = np.flatnonzero(a[:length] != b[:length])
    return int(differing[0]) if len(differing) else length


def usable(prompt: Tokens, held: Held) -> int:
    """How many leading tokens of `prompt` the state provides: never all, since the last must be computed."""
    common = common_prefix(prompt, held.tokens)
    if held.cuttable:
        return min(common, len(prompt) - 1)
    whole = common == len(held.tokens) and common < len(prompt)
    return common if whole else 0


def best(prompt: Tokens, live: Held, stored: Iterable[Held]) -> tuple[Held, int]:
    """The state to go on from, and how many tokens it provides; `live` unless another is clearly better."""
    chosen, gain = live, usable(prompt, live)
    threshold = gain + WORTH_RESTORING
    for held in stored:
        provides = usable(prompt, held)
        if provides >= threshold:
            chosen, gain, threshold = held, provides, provides + 1
    return chosen, gain


def superseded(by: Held, held: Held) -> bool:
    """Whether `held` spares nothing that `by` does not: its tokens begin `by`'s, and `by` can be cut back to them."""
    same = len(by.tokens) == len(held.tokens)
    return (by.cuttable or same) and common_prefix(by.tokens, held.tokens) == len(held.tokens)
