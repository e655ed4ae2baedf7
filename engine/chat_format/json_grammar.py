"""JSON schemas as llama.cpp grammars (GBNF), with what llama-cpp-python's converter leaves out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_ANY_OBJECT: dict[str, Any] = {"type": "object"}
# The converter's strings may hold line breaks, which JSON's may not.
_LOOSE_CHARACTER, _CHARACTER = r'[^"\\] |', r'[^"\\\x7F\x00-\x1F] |'
_MOST_INTEGERS = 1000


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """The grammar of JSON texts that fit `schema`; an empty schema means any JSON object.

    Raises ValueError, KeyError, AssertionError and the like for a schema that cannot be used.
    """
    from llama_cpp.llama_grammar import json_schema_to_gbnf  # the library takes long to import

    grammar: str = json_schema_to_gbnf(json.dumps(_with_integers_listed(dict(schema) or _ANY_OBJECT)))
    return grammar.replace(_LOOSE_CHARACTER, _CHARACTER)


def _with_integers_listed(value: Any) -> Any:
    """The schema with integers of a small range as the list of them: the converter knows no bounds."""
    if isinstance(value, list):
        return [_with_integers_listed(item) for item in value]
    if not isinstance(value, dict):
        return value
    low, high = value.get("minimum"), value.get("maximum")
    if value.get("type") != "integer" or not isinstance(low, int) or not isinstance(high, int) or "enum" in value:
        return {name: _with_integers_listed(item) for name, item in value.items()}
    return {"enum": list(range(low, high + 1))} if low <= high < low + _MOST_INTEGERS else value
