"""Which family a model belongs to, told by its chat template, and the parser and call syntax of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.chat_format.calls import (
    CallReader,
    JsonObjectReader,
    NamedJsonReader,
    ParameterTypes,
    PythonCallReader,
    SniffReader,
    TagReader,
)
from engine.chat_format.harmony import HarmonyStream
from engine.chat_format.stream import ChatStream
from engine.chat_format.tagged import MakeReader, TaggedStream, Tags, new_call_id


class Family(StrEnum):
    """How a model writes tool calls."""

    HERMES = "hermes"  # Qwen, Hermes and most others: JSON in <tool_call> tags; Qwen-Coder: <function=...> inside
    GLM = "glm"
    DEEPSEEK = "deepseek"
    HARMONY = "harmony"
    MISTRAL = "mistral"
    LLAMA3 = "llama3"


THINKING_MARKERS = (
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<thinking>", "</thinking>"),
)
_DS_BEGIN, _DS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_DS_CALL, _DS_CALL_END, _DS_SEP = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
_DSML = "｜DSML｜"


def family_of(template: str) -> Family:
    """The family whose markers the template contains; Hermes' is what others are asked to write."""
    signs = (
        (Family.HARMONY, ("<|channel|>",)),
        (Family.DEEPSEEK, (_DS_BEGIN, _DSML)),
        (Family.MISTRAL, ("[TOOL_CALLS]",)),
        (Family.GLM, ("<arg_key>",)),
        (Family.HERMES, ("<tool_call>",)),
        (Family.LLAMA3, ("<|python_tag|>", "<|start_header_id|>")),
    )
    return next((family for family, texts in signs if any(text in template for text in texts)), Family.HERMES)


def thinking_markers(template: str) -> tuple[str, str] | None:
    """The markers around thinking that the template knows, or None."""
    return next((pair for pair in THINKING_MARKERS if pair[0] in template or pair[1] in template), None)


def parameter_types(tools: Sequence[Mapping[str, Any]]) -> ParameterTypes:
    """Types of the parameters of tools given as (name, parameters) mappings."""
    types: dict[str, dict[str, Any]] = {}
    for tool in tools:
        properties = tool["parameters"].get("properties")
        named = properties.items() if isinstance(properties, Mapping) else ()
        types[tool["name"]] = {
            name: schema.get("type") for name, schema in named if isinstance(schema, Mapping) and "type" in schema
        }
    return types


@dataclass(frozen=True)
class Format:
    """What is known of a model's way of answering.

    Attributes:
        family: of its tool calls.
        thinking: its markers of thinking.
    """

    family: Family
    thinking: tuple[str, str] | None

    @classmethod
    def of(cls, template: str) -> Format:
        """The format of the model with this template."""
        return cls(family_of(template), thinking_markers(template))

    def opens_thinking(self, prompt: str) -> bool:
        """Whether the prompt ends inside thinking."""
        return self.thinking is not None and prompt.rstrip().endswith(self.thinking[0])

    def stream(self, prompt: str, types: ParameterTypes | None, new_id: Callable[[], str] = new_call_id) -> ChatStream:
        """A parser of the answer to `prompt`; `types` None: no tools were offered, calls are not looked for."""
        if self.family is Family.HARMONY:
            return HarmonyStream(new_id=new_id)
        tags = Tags(thinking=self.thinking) if types is None else _tags(self.family, self.thinking, types)
        return TaggedStream(tags, in_thinking=self.opens_thinking(prompt), new_id=new_id)


def _tags(family: Family, thinking: tuple[str, str] | None, types: ParameterTypes) -> Tags:
    match family:
        case Family.DEEPSEEK:
            return _deepseek(thinking, types)
        case Family.MISTRAL:
            return _mistral(thinking)
        case Family.LLAMA3:
            return _llama3(thinking)
        case _:
            return _tool_call_tags(thinking, types)


def _tool_call_tags(thinking: tuple[str, str] | None, types: ParameterTypes) -> Tags:
    """`<tool_call>` with JSON, Qwen-Coder's tags or GLM's inside: told apart by their beginning."""

    def glm() -> CallReader:
        key, value = ("<arg_key>", "</arg_key>"), ("<arg_value>", "</arg_value>")
        return TagReader(("\n", key[0]), key, value, ("</tool_call>",), types)

    def coder() -> CallReader:
        return TagReader((">",), ("<parameter=", ">"), ("", "</parameter>"), ("</function>",), types)

    def inside() -> CallReader:
        return SniffReader({"{": (JsonObjectReader, True), "<function=": (coder, False)}, glm)

    return Tags(
        thinking,
        calls={"<tool_call>": inside},
        more_calls={"{": JsonObjectReader},
        after_call=("</tool_call>",),
        dropped=("</tool_call>",),
    )


def _deepseek(thinking: tuple[str, str] | None, types: ParameterTypes) -> Tags:
    def named() -> CallReader:
        return NamedJsonReader((_DS_SEP, "\n"), ("```json",), kind_first=True)

    def dsml() -> CallReader:
        key = (f'<{_DSML}parameter name="', '">')
        return TagReader(('">',), key, ("", f"</{_DSML}parameter>"), (f"</{_DSML}invoke>",), types)

    envelope = (_DS_BEGIN, _DS_END, _DS_CALL_END, f"<{_DSML}function_calls>", f"</{_DSML}function_calls>")
    return Tags(
        thinking,
        calls={_DS_CALL: named, f'<{_DSML}invoke name="': dsml},
        after_call=("```", *envelope),
        dropped=envelope,
    )


def _mistral(thinking: tuple[str, str] | None) -> Tags:
    def named() -> CallReader:
        return NamedJsonReader(("[CALL_ID]", "[ARGS]"))

    def inside() -> CallReader:
        return SniffReader({"[": (JsonObjectReader, False), "{": (JsonObjectReader, True)}, named)

    return Tags(
        thinking,
        calls={"[TOOL_CALLS]": inside},
        more_calls={"{": JsonObjectReader},
        after_call=(",", "]"),
        dropped=("[ARGS]",),
    )


def _llama3(thinking: tuple[str, str] | None) -> Tags:
    def function() -> CallReader:
        return NamedJsonReader((">",))

    def tagged() -> CallReader:
        return SniffReader({"{": (JsonObjectReader, True)}, PythonCallReader)

    calls: dict[str, MakeReader] = {"<|python_tag|>": tagged, "<function=": function}
    return Tags(
        thinking,
        calls=calls,
        more_calls={"{": JsonObjectReader},
        after_call=("</function>", ";", ","),
        dropped=("<|python_tag|>",),
        bare_call=JsonObjectReader,
    )


def call_text(name: str, arguments: str) -> str:
    """A call as Hermes writes it, for templates that know nothing of tools."""
    return f'<tool_call>\n{{"name": {json.dumps(name)}, "arguments": {arguments}}}\n</tool_call>'
