"""How computing and reading share the time of a token, by how many layers ahead experts are read. Pure.

A token's time has two parts that overlap: computing (experts and the always-used weights) and reading the experts that
are not in memory. Neither can be shorter than it is alone; how near a token comes to the longer of the two depends on
how early reads begin. What is read for wrong guesses does not lengthen the reading: guesses are read while the drive
has nothing else to do (docs/architecture.md, "Guesses give way to demand"). But all that is read while something is
computed makes computing slower: the drive writes into the same memory, and on a virtual machine the host may count its
work as the processor's.

The constants are fitted to the 17.1 GB model on two cores: docs/benchmarks.md, `lookahead` at 4000 and 6000 MiB of
commit 8abafd890b and `cache` of 8abafd890b and 4170d5832e, and docs/policy.md, "Where reading early costs", another
machine. Each is a sequence by lookahead, 0 to 4; 4 was not measured and is taken as 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_OVERLAP = (1.5, 2.4, 3.4, 3.5, 3.5)
"""By lookahead: the exponent of the norm that joins computing and reading. 1: one after the other; large: the longer
of them alone."""
_PREDICTING = (0.0, 0.017, 0.034, 0.05, 0.067)
"""By lookahead: what applying the next layers' routers adds to computing (12 of 240 ms with 3 layers)."""
_LOST_S_PER_BYTE = 1.0e-10
"""Computing that a byte read beside it costs: 0.1 ms a MiB ("compute alone" against token less waiting: 0.05 to 0.13,
on the other machine 0.06 to 0.19)."""
_BESIDE = (0.25, 1.0, 1.0, 1.0, 1.0)
"""By lookahead: share of the needed bytes that are read while something is computed. Without early reads most threads
wait meanwhile: computing took 0 to 10 % longer, not 8 to 23 %."""
_WASTE = (0.0, 0.2, 0.33, 0.42, 0.42)
"""By lookahead: bytes read for wrong guesses while the drive has time to spare, as a share of what could be guessed
wrongly: the token's bytes times the share in memory times the share missed ("read" less "missed")."""
_WASTE_BUSY = 0.1
"""On a drive without time to spare that many of them are read: the bar is higher then (bar 0.8 to 0.9 against 0.5)."""
_SPARE = 0.3
"""Share of the time that a drive has to idle for the lowest bar (`LikelihoodSettings::idle_share_for_lowest`)."""


def joined(working: float, reading: float, lookahead: int) -> float:
    """Seconds of a token that computes for `working` and reads for `reading` seconds."""
    longer, shorter, power = max(working, reading), min(working, reading), _of(_OVERLAP, lookahead)
    return longer * math.pow(1.0 + math.pow(shorter / longer, power), 1.0 / power) if longer > 0 else 0.0


def other_part(token_s: float, one: float, lookahead: int) -> float:
    """What `joined` was given beside `one` if it gave `token_s`."""
    power = _of(_OVERLAP, lookahead)
    return token_s * math.pow(1.0 - math.pow(min(1.0, max(0.0, one / token_s)), power), 1.0 / power)


def predicting(lookahead: int) -> float:
    """What predicting adds to computing, as a share of it."""
    return _of(_PREDICTING, lookahead)


def lost_seconds(lookahead: int, needed_bytes: float, wasted_bytes: float) -> float:
    """Seconds that computing takes longer beside such reading."""
    return _LOST_S_PER_BYTE * (_of(_BESIDE, lookahead) * needed_bytes + wasted_bytes)


def eagerness(lookahead: int, idle: float) -> float:
    """Share of what could be guessed wrongly that is read, where the drive idles for the share `idle` of the time."""
    return _of(_WASTE, lookahead) * (_WASTE_BUSY + (1.0 - _WASTE_BUSY) * min(1.0, max(0.0, idle) / _SPARE))


def _of(by_lookahead: Sequence[float], lookahead: int) -> float:
    return by_lookahead[min(lookahead, len(by_lookahead) - 1)]
