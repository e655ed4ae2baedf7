"""The form of settings is derived from the engine's schema: a setting the engine adds must appear, with its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from app.presets.checks import Surroundings, findings
from app.presets.schema import grouped, read_schema
from engine.settings import EngineSettings

SPECS = read_schema(EngineSettings.model_json_schema())
BY_NAME = {spec.name: spec for spec in SPECS}


def test_every_setting_of_the_engine_is_shown_with_words_and_a_place() -> None:
    assert set(BY_NAME) == set(EngineSettings.model_fields)
    assert all(spec.title and spec.help and spec.group != "other" for spec in SPECS)
    assert sum(len(group) for _, group in grouped(SPECS)) == len(SPECS)
    assert next(iter(grouped(SPECS)))[0] == "Memory"


def test_kinds_bounds_and_automatic_values_are_read() -> None:
    cache, lookahead, flash = BY_NAME["cache_bytes"], BY_NAME["lookahead"], BY_NAME["flash_attention"]
    assert (cache.kind, cache.automatic, cache.default, cache.unit, cache.live) == (
        "integer",
        True,
        None,
        "bytes",
        True,
    )
    assert (lookahead.minimum, lookahead.maximum, lookahead.automatic) == (0, 4, False)
    assert (flash.kind, flash.default) == ("boolean", True)
    penalty = BY_NAME["repeat_penalty"].minimum
    assert penalty is not None and 0 < penalty <= 0.01


def test_defaults_of_the_schema_are_free_of_complaints() -> None:
    """A fresh installation must not greet its user with warnings."""
    assert findings({}, SPECS, Surroundings(16 << 30, 8, 32_768)) == ()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("lookahead", 9, "above 4"),
        ("io_threads", 0, "below 1"),
        ("lookahead", 1.5, "whole number"),
        ("lookahead", None, "needs a value"),
        ("flash_attention", "yes", "wrong kind"),
        ("context_length", "long", "not a number"),
    ],
)
def test_a_value_out_of_bounds_is_blocked_and_says_why(name: str, value: Any, said: str) -> None:
    (first, *_) = findings({name: value}, SPECS, Surroundings())
    assert first.blocking and first.names == (name,) and said in first.values["problem"]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"plain": True, "lookahead": 2}, ("plain",)),
        ({"ubatch": 8192}, ("ubatch", "context_length")),
        ({"context_length": 100_000}, ("context_length",)),
        ({"cache_bytes": 15 << 30}, ("cache_bytes",)),
        ({"io_threads": 1}, ("lookahead", "io_threads")),
        ({"threads": 64}, ("threads",)),
        ({"temperature": 0.0, "seed": 3}, ("temperature", "seed")),
    ],
)
def test_combinations_that_do_not_do_what_they_say_are_explained(
    values: dict[str, Any], names: tuple[str, ...]
) -> None:
    found = findings(values, SPECS, Surroundings(16 << 30, 8, 32_768))
    assert [finding.names for finding in found] == [names]
    assert found[0].text.format(**found[0].values).endswith(".") and not found[0].blocking


def test_a_setting_that_cannot_be_understood_costs_itself_only() -> None:
    schema = {"properties": {"a": {"type": "array"}, "b": {"type": "integer", "title": "B"}, "c": 3}}
    assert [spec.name for spec in read_schema(schema)] == ["b"]
    assert read_schema({}) == ()


def test_named_choices_are_read_through_references() -> None:
    schema = {
        "$defs": {"Mode": {"type": "string", "enum": ["a", "b"]}},
        "properties": {"mode": {"$ref": "#/$defs/Mode", "default": "a", "group": "speed"}},
    }
    (spec,) = read_schema(schema)
    assert spec.choices == ("a", "b") and spec.problem("c") and not spec.problem("b")
