"""JSON schemas as llama.cpp grammars (GBNF)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_ANY_OBJECT: dict[str, Any] = {"type": "object"}


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """The grammar of JSON texts that fit `schema`; an empty schema means any JSON object. Raises ValueError etc."""
    from llama_cpp.llama_grammar import json_schema_to_gbnf  # the library takes long to import

    grammar: str = json_schema_to_gbnf(json.dumps(schema or _ANY_OBJECT))
    return grammar
