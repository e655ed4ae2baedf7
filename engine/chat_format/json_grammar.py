"""JSON schemas as llama.cpp grammars (GBNF), with what llama-cpp-python's converter leaves out."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

_ANY_OBJECT: dict[str, Any] = {"type": "object"}
# The converter's strings may hold line breaks, which JSON's may not.
_LOOSE_CHARACTER, _CHARACTER = r'[^"\\] |', r'[^"\\\x7F\x00-\x1F] |'
_MOST_INTEGERS = 1000


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """The grammar of JSON texts that fit `schema`; an empty schema means any JSON object.

    Raises ValueError, KeyError, AssertionError and the like for a schema that cannot be used.
    """
    grammar: str = _converter()(json.dumps(_with_integers_listed(dict(schema) or _ANY_OBJECT)))
    return grammar.replace(_LOOSE_CHARACTER, _CHARACTER)


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
