"""Bounds of integers in grammars: the alternatives are read as a regular expression and tried on numbers around."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chat_format.integer_grammar import integer_range
from engine.chat_format.json_grammar import schema_grammar

BOUND = st.none() | st.integers(-1200, 1200)


def as_pattern(alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(one.replace('"', "").replace(" ", "") for one in alternatives.split(" | ")))


@given(BOUND, BOUND)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_exactly_the_numbers_in_range_match(low: int | None, high: int | None) -> None:
    if low is not None and high is not None and low > high:
        low, high = high, low
    pattern = as_pattern(integer_range(low, high))
    for number in range(-1300, 1301):
        inside = (low is None or low <= number) and (high is None or number <= high)
        assert bool(pattern.fullmatch(str(number))) == inside, (number, pattern.pattern)
    assert not any(pattern.fullmatch(text) for text in ("-0", "007", "", "-", "1.5"))


@given(st.integers(10**9, 10**15), st.integers(0, 10**14))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_long_numbers_match_at_their_edges(low: int, width: int) -> None:
    pattern = as_pattern(integer_range(low, low + width))
    assert pattern.fullmatch(str(low)) and pattern.fullmatch(str(low + width))
    assert not pattern.fullmatch(str(low - 1)) and not pattern.fullmatch(str(low + width + 1))


@pytest.mark.parametrize(("low", "high"), [(5, 4), (0, 10**17), (-(10**17), None)])
def test_ranges_that_cannot_be_are_refused(low: int, high: int | None) -> None:
    with pytest.raises(ValueError, match="integer"):
        integer_range(low, high)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, integer_range(1, 9)),
        ({"type": "integer", "exclusiveMinimum": 1900, "maximum": 2100.5}, integer_range(1901, 2100)),
        ({"type": "integer", "minimum": 0}, integer_range(0, None)),
        ({"type": "integer", "exclusiveMaximum": 0, "maximum": 7}, integer_range(None, -1)),
    ],
)
def test_a_schemas_bounds_are_in_its_grammar(schema: dict[str, object], expected: str) -> None:
    whole = {"type": "object", "properties": {"list": {"type": "array", "items": schema}}, "required": ["list"]}
    grammar = schema_grammar(whole)
    assert f"( {expected} )" in grammar and "an integer in range" not in grammar


def test_listed_integers_stay_as_they_are() -> None:
    assert '"7"' in schema_grammar({"type": "integer", "minimum": 0, "maximum": 9, "enum": [7]})
