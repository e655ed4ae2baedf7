"""A client shows half a tool call as text, or loses one, when these fail."""

from __future__ import annotations

import itertools
import json

import pytest

from engine.chat_format.families import Family, Format, family_of, parameter_types, thinking_markers
from engine.chat_format.parts import Content, Part, Reasoning, ToolArguments, ToolEnd, ToolStart

THINK = ("<think>", "</think>")
WEATHER = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "exact": {"type": "boolean"}},
    },
}
TYPES = parameter_types([WEATHER])


def read(family: Family, text: str, *, prompt: str = "", tools: bool = True, size: int = 1) -> list[Part]:
    """The parts of `text`, fed in pieces of `size` characters."""
    ids = (f"id{number}" for number in itertools.count())
    stream = Format(family, THINK).stream(prompt, TYPES if tools else None, lambda: next(ids))
    parts: list[Part] = []
    for at in range(0, len(text), size):
        parts += stream.feed(text[at : at + size])
    return parts + stream.finish()


def summary(parts: list[Part]) -> dict[str, object]:
    """Content, reasoning and calls of parts; checks that calls open, grow and close in order."""
    calls: list[tuple[str, object]] = []
    arguments = ""
    opened: int | None = None
    for part in parts:
        match part:
            case ToolStart(index, call_id, name):
                assert opened is None and index == len(calls) and call_id == f"id{index}"
                opened, arguments = index, ""
                calls.append((name, None))
            case ToolArguments(index, text):
                assert index == opened
                arguments += text
            case ToolEnd(index):
                assert index == opened
                calls[index] = (calls[index][0], json.loads(arguments))
                opened = None
    assert opened is None, "a call was not closed"
    return {
        "content": "".join(part.text for part in parts if isinstance(part, Content)),
        "reasoning": "".join(part.text for part in parts if isinstance(part, Reasoning)),
        "calls": calls,
    }


PARIS = ("get_weather", {"city": "Paris", "days": 3})
DS = (
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
)
CASES = {
    "hermes": (
        Family.HERMES,
        'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}\n</tool_call>',
        "Let me look.",
    ),
    "hermes, arguments first": (
        Family.HERMES,
        '<tool_call>{"arguments": {"city": "Paris", "days": 3}, "name": "get_weather"}</tool_call>',
        "",
    ),
    "hermes, arguments as a string": (
        Family.HERMES,
        '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\", \\"days\\": 3}"}</tool_call>',
        "",
    ),
    "qwen coder": (
        Family.HERMES,
        "Looking.\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        "Looking.",
    ),
    "glm": (
        Family.GLM,
        "\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        "",
    ),
    "glm without line breaks": (
        Family.GLM,
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>"
        "<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
        "",
    ),
    "deepseek v3": (
        Family.DEEPSEEK,
        f'{DS[0]}{DS[1]}function{DS[2]}get_weather\n```json\n{{"city": "Paris", "days": 3}}\n```{DS[3]}{DS[4]}',
        "",
    ),
    "deepseek v3.1": (
        Family.DEEPSEEK,
        f'Looking.{DS[0]}{DS[1]}get_weather{DS[2]}{{"city": "Paris", "days": 3}}{DS[3]}{DS[4]}',
        "Looking.",
    ),
    "deepseek v3.2": (
        Family.DEEPSEEK,
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n'
        '<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        "",
    ),
    "mistral list": (
        Family.MISTRAL,
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}]',
        "",
    ),
    "mistral named": (Family.MISTRAL, '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris", "days": 3}', ""),
    "llama 3": (Family.LLAMA3, '{"name": "get_weather", "parameters": {"city": "Paris", "days": 3}}', ""),
    "llama 3 with a tag": (
        Family.LLAMA3,
        '<|python_tag|>{"type": "function", "name": "get_weather", "parameters": {"city": "Paris", "days": 3}}',
        "",
    ),
    "llama 3.1 function tag": (
        Family.LLAMA3,
        '<function=get_weather>{"city": "Paris", "days": 3}</function>',
        "",
    ),
    "llama 3 built-in": (Family.LLAMA3, '<|python_tag|>get_weather.call(city="Paris", days=3)', ""),
    "harmony": (
        Family.HARMONY,
        "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
        '{"city": "Paris", "days": 3}<|call|>',
        "",
    ),
    "harmony, recipient first": (
        Family.HARMONY,
        ' to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Paris", "days": 3}',
        "",
    ),
}


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize("name", CASES)
def test_one_call_of_each_family(name: str, size: int) -> None:
    family, text, content = CASES[name]
    assert summary(read(family, text, size=size)) == {"content": content, "reasoning": "", "calls": [PARIS]}


TWO = {
    Family.HERMES: '<tool_call>{"name": "a", "arguments": {}}</tool_call>\n<tool_call>{"name": "b"}</tool_call>',
    Family.GLM: "<tool_call>a\n</tool_call>\n<tool_call>b</tool_call>",
    Family.DEEPSEEK: f"{DS[0]}{DS[1]}a{DS[2]}{{}}{DS[3]}{DS[1]}b{DS[2]}{{}}{DS[3]}{DS[4]}",
    Family.MISTRAL: '[TOOL_CALLS][{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]',
    Family.LLAMA3: '{"name": "a", "parameters": {}}; {"name": "b", "parameters": {}}',
    Family.HARMONY: "<|channel|>commentary to=functions.a<|message|>{}<|end|><|start|>assistant"
    "<|channel|>commentary to=functions.b<|message|>{}<|call|>",
}


@pytest.mark.parametrize("family", TWO)
def test_several_calls_in_one_answer(family: Family) -> None:
    assert summary(read(family, TWO[family]))["calls"] == [("a", {}), ("b", {})]


@pytest.mark.parametrize("family", [family for family in Family if family is not Family.HARMONY])
def test_thinking_is_separated_and_layout_around_it_dropped(family: Family) -> None:
    text = "<think>\nFirst <b> then c.\n</think>\n\nThe answer < 5.\n"
    found = summary(read(family, text))
    assert found["reasoning"] == "First <b> then c."
    assert str(found["content"]).rstrip("\n") == "The answer < 5."


def test_thinking_opened_by_the_prompt() -> None:
    parts = read(Family.HERMES, "Hm.\n</think>\n\nYes.", prompt="<|im_start|>assistant\n<think>\n")
    assert parts[0] == Reasoning("H")
    assert summary(parts) == {"content": "Yes.", "reasoning": "Hm.", "calls": []}


def test_harmony_channels() -> None:
    text = (
        "<|channel|>analysis<|message|>User asks.<|end|><|start|>assistant<|channel|>commentary<|message|>One moment."
        "<|end|><|start|>assistant<|channel|>final<|message|>Paris.<|return|>"
    )
    found = summary(read(Family.HARMONY, text))
    assert found == {"content": "One moment.Paris.", "reasoning": "User asks.", "calls": []}


def test_harmony_without_any_header_is_plain_text() -> None:
    assert summary(read(Family.HARMONY, "Just text."))["content"] == "Just text."


def test_a_closing_marker_inside_a_json_string_does_not_end_the_call() -> None:
    text = '<tool_call>{"name": "write", "arguments": {"text": "a </tool_call> b } \\" {"}}</tool_call> Done.'
    found = summary(read(Family.HERMES, text))
    assert found["calls"] == [("write", {"text": 'a </tool_call> b } " {'})]
    assert found["content"] == "Done."


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (Family.HERMES, "a <tool_cal> b"),
        (Family.HERMES, "1 < 2 and <tool"),
        (Family.LLAMA3, '{"answer": 42}'),
        (Family.LLAMA3, "{not json"),
        (Family.MISTRAL, "[TOOL] [TOOL_CALL"),
        (Family.DEEPSEEK, "<｜tool▁call"),
    ],
)
def test_what_only_looks_like_a_call_is_text(family: Family, text: str) -> None:
    assert summary(read(family, text)) == {"content": text, "reasoning": "", "calls": []}


def test_a_broken_call_is_shown_as_text() -> None:
    text = '<tool_call>{"nam": [1, 2]}</tool_call> sorry'
    found = summary(read(Family.HERMES, text))
    assert found["calls"] == [] and '{"nam": [1, 2]}' in str(found["content"])


def test_a_call_whose_object_is_not_closed_ends_with_its_section() -> None:
    text = '<tool_call>{"name": "a", "arguments": {"x": 1}</tool_call>After.'
    found = summary(read(Family.HERMES, text))
    assert found == {"content": "After.", "reasoning": "", "calls": [("a", {"x": 1})]}


def test_calls_are_not_looked_for_when_no_tools_were_offered() -> None:
    text = 'Write <tool_call>{"name": "a"}</tool_call> like this.'
    assert summary(read(Family.HERMES, text, tools=False))["content"] == text


def test_arguments_stream_while_they_are_written() -> None:
    text = '<tool_call>{"name": "a", "arguments": {"text": "long'
    stream = Format(Family.HERMES, None).stream("", {}, lambda: "id")
    parts = [part for char in text for part in stream.feed(char)]
    assert "".join(part.text for part in parts if isinstance(part, ToolArguments)) == '{"text": "long'


def test_values_in_tags_follow_the_schema() -> None:
    text = (
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>12345</arg_value>"
        "<arg_key>exact</arg_key><arg_value>true</arg_value><arg_key>other</arg_key><arg_value>[1]</arg_value></tool_call>"
    )
    calls = summary(read(Family.GLM, text))["calls"]
    assert calls == [("get_weather", {"city": "12345", "exact": True, "other": [1]})]


def test_families_are_told_by_their_templates() -> None:
    assert family_of("... '<|channel|>analysis' ...") is Family.HARMONY
    assert family_of("{{ '<｜tool▁calls▁begin｜>' }}") is Family.DEEPSEEK
    assert family_of("[AVAILABLE_TOOLS] [TOOL_CALLS]") is Family.MISTRAL
    assert family_of("<tool_call><arg_key>") is Family.GLM
    assert family_of("<|start_header_id|>") is Family.LLAMA3
    assert family_of("<tool_call> {{ tools }}") is Family.HERMES
    assert family_of("{{ messages }}") is Family.HERMES
    assert thinking_markers("{{ content.split('</think>') }}") == THINK
    assert thinking_markers("no such thing") is None
