"""JSON schemas as llama.cpp grammars (GBNF), with what llama-cpp-python's converter leaves out."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from engine.chat_format.integer_grammar import integer_range

_ANY_OBJECT: dict[str, Any] = {"type": "object"}
# The converter's strings may hold line breaks, which JSON's may not.
_LOOSE_CHARACTER, _CHARACTER = r'[^"\\] |', r'[^"\\\x7F\x00-\x1F] |'
_PLACE = "an integer in range "


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """The grammar of JSON texts that fit `schema`; an empty schema means any JSON object.

    Raises ValueError, KeyError, AssertionError and the like for a schema that cannot be used.
    """
    ranges = _Ranges()
    grammar: str = _converter()(json.dumps(ranges.taken_out(dict(schema) or _ANY_OBJECT)))
    return ranges.put_back(grammar.replace(_LOOSE_CHARACTER, _CHARACTER))


@cache
def _converter() -> Callable[[str], str]:
    """llama-cpp-python's converter; its module is loaded alone, since the package would load llama.cpp with it."""
    package = importlib.util.find_spec("llama_cpp")
    folders = () if package is None else package.submodule_search_locations or ()
    for path in (Path(folder) / "llama_grammar.py" for folder in folders):
        spec = importlib.util.spec_from_file_location("gannet_llama_grammar", path) if path.exists() else None
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            converter: Callable[[str], str] = module.json_schema_to_gbnf
            return converter
    from llama_cpp.llama_grammar import json_schema_to_gbnf  # packed into one file with the application

    packed: Callable[[str], str] = json_schema_to_gbnf
    return packed


class _Ranges:
    """Bounded integers, which the converter does not know: constants take their places, and grammar theirs."""

    def __init__(self) -> None:
        self._bounds: list[tuple[int | None, int | None]] = []

    def taken_out(self, value: Any) -> Any:
        """The schema with a constant for every integer with bounds."""
        if isinstance(value, list):
            return [self.taken_out(item) for item in value]
        if not isinstance(value, dict):
            return value
        low, high = _bounds(value)
        if value.get("type") != "integer" or (low, high) == (None, None) or {"enum", "const"} & set(value):
            return {name: self.taken_out(item) for name, item in value.items()}
        self._bounds.append((low, high))
        return {"const": f"{_PLACE}{len(self._bounds) - 1}."}

    def put_back(self, grammar: str) -> str:
        """The converter's grammar with the ranges where the constants are."""
        for at, (low, high) in enumerate(self._bounds):
            literal = json.dumps(json.dumps(f"{_PLACE}{at}."))
            grammar = grammar.replace(literal, f"( {integer_range(low, high)} )")
        return grammar


def _bounds(schema: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The least and the largest integer that the schema allows; None: any."""

    def limit(name: str) -> float | None:
        value = schema.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    lows = [math.ceil(low) for low in [limit("minimum")] if low is not None]
    lows += [math.floor(low) + 1 for low in [limit("exclusiveMinimum")] if low is not None]
    highs = [math.floor(high) for high in [limit("maximum")] if high is not None]
    highs += [math.ceil(high) - 1 for high in [limit("exclusiveMaximum")] if high is not None]
    return max(lows, default=None), min(highs, default=None)
