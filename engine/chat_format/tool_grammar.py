"""Grammars (GBNF) of answers that must be a tool call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.chat_format.families import Family

MakeGrammar = Callable[[Mapping[str, Any]], str]
_ROOT = re.compile(r"^root ::=", re.MULTILINE)


def forced_call_grammar(family: Family, tools: Sequence[Mapping[str, Any]], schema_grammar: MakeGrammar) -> str:
    """The grammar of one call of any of `tools` (name, parameters), in the family's own words.

    `schema_grammar` turns a JSON schema into a grammar with the rule `root`. Families that write arguments in tags get
    Hermes' form, which their parser reads too.
    """
    if family is Family.HARMONY:
        return _by_name(tools, schema_grammar, "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>", "")
    if family is Family.DEEPSEEK:
        before, after = (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{}<｜tool▁sep｜>",
            "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        )
        return _by_name(tools, schema_grammar, before, after)
    if family is Family.MISTRAL:
        return _by_name(tools, schema_grammar, "[TOOL_CALLS]{}[ARGS]", "")
    before, after = ("", "") if family is Family.LLAMA3 else ("<tool_call>\n", "\n</tool_call>")
    key = "parameters" if family is Family.LLAMA3 else "arguments"
    return _objects(tools, schema_grammar, before, after, key)


def _objects(tools: Sequence[Mapping[str, Any]], schema_grammar: MakeGrammar, before: str, after: str, key: str) -> str:
    """One JSON object with name and arguments, between two texts."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool["name"]}, key: _object_schema(tool["parameters"])},
            "required": ["name", key],
        }
        for tool in tools
    ]
    grammar = schema_grammar(calls[0] if len(calls) == 1 else {"anyOf": calls})
    return f"root ::= {_literal(before)} call {_literal(after)}\n" + _ROOT.sub("call ::=", grammar)


def _by_name(tools: Sequence[Mapping[str, Any]], schema_grammar: MakeGrammar, before: str, after: str) -> str:
    """The name in a text before the object, so that each tool has an alternative of its own."""
    rules, names = [], []
    for number, tool in enumerate(tools):
        # Each tool's rules get a prefix of their own: two schemas may define a rule of the same name differently.
        grammar = _prefixed(schema_grammar(_object_schema(tool["parameters"])), f"t{number}-")
        rules.append(grammar)
        names.append(f"{_literal(before.format(tool['name']))} t{number}-root {_literal(after)}")
    return "root ::= " + " | ".join(names) + "\n" + "\n".join(rules)


def _object_schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return dict(parameters) if parameters.get("type") == "object" else {"type": "object"} | dict(parameters)


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-zA-Z][a-zA-Z0-9-]*|\{[^}]*\}|.', re.DOTALL)


def _prefixed(grammar: str, prefix: str) -> str:
    """The grammar with `prefix` before every rule's name; literals and character classes stay."""
    return "".join(
        prefix + token if token[0].isalpha() and token.isascii() else token for token in _TOKEN.findall(grammar)
    )
