"""Ranges of integers as llama.cpp grammar (GBNF): the digits are split where the bounds' digits differ."""

from __future__ import annotations

from collections.abc import Iterator

MOST_DIGITS = 16  # as many as llama-cpp-python's own rule for integers takes


def integer_range(low: int | None, high: int | None) -> str:
    """Alternatives that match the decimal integers from `low` to `high`, both included; None: no bound.

    Raises ValueError for an empty range, and for bounds of more than `MOST_DIGITS` digits.
    """
    if low is not None and high is not None and low > high:
        raise ValueError(f"no integer is at least {low} and at most {high}")
    if any(len(str(abs(bound))) > MOST_DIGITS for bound in (low, high) if bound is not None):
        raise ValueError(f"bounds of integers have at most {MOST_DIGITS} digits")
    alternatives = []
    if low is None or low < 0:
        least = 1 if high is None or high >= 0 else -high
        alternatives += [f'"-" {digits}' for digits in _magnitudes(least, None if low is None else -low)]
    if high is None or high >= 0:
        alternatives += _magnitudes(max(low or 0, 0), high)
    return " | ".join(alternatives)


def _magnitudes(low: int, high: int | None) -> Iterator[str]:
    """Alternatives for the numbers from `low` >= 0 to `high`, one or more for each number of digits."""
    most = MOST_DIGITS if high is None else len(str(high))
    for length in range(len(str(low)), most + 1):
        first = max(low, 10 ** (length - 1) if length > 1 else 0)
        last = 10**length - 1 if high is None else min(high, 10**length - 1)
        yield from (" ".join(parts) for parts in _same_length(str(first), str(last)))


def _same_length(low: str, high: str) -> Iterator[list[str]]:
    """Alternatives for the digit strings from `low` to `high`, which are equally long."""
    rest = len(low) - 1
    if low[0] == high[0]:
        tails = _same_length(low[1:], high[1:]) if rest else [[]]
        yield from ([f'"{low[0]}"', *tail] for tail in tails)
        return
    first, last = int(low[0]), int(high[0])
    if low[1:] != "0" * rest:
        yield from ([f'"{low[0]}"', *tail] for tail in _same_length(low[1:], "9" * rest))
        first += 1
    whole_last = high[1:] == "9" * rest
    if first <= last - (not whole_last):
        yield [f"[{first}-{last - (not whole_last)}]", *([f"[0-9]{{{rest}}}"] if rest else [])]
    if not whole_last:
        yield from ([f'"{high[0]}"', *tail] for tail in _same_length("0" * rest, high[1:]))
