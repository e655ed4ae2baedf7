"""A conversation as prompt text: what the model's template is given, and how it is talked into what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.chat_format.families import Family, Format
from engine.chat_format.template import CHATML, TemplateError
from engine.chat_format.tool_prompt import template_knows_tools, with_tools_described
from engine.server.request import ChatPrompt, Tool

Render = Callable[[str, Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class ModelTexts:
    """What of a model a prompt depends on: its template (None: it has none) and its begin and end tokens as text."""

    template: str | None
    bos: str
    eos: str


class Prompter:
    """Writes prompts for one model; `render` renders a template with variables within limits."""

    def __init__(self, texts: ModelTexts, render: Render) -> None:
        self._texts = texts
        self._render = render
        self.template = texts.template or CHATML
        self.format = Format.of(self.template)

    def text(self, prompt: ChatPrompt) -> str:
        """The prompt's text, up to where the model goes on. Raises `TemplateError`."""
        if prompt.continues:
            return self._begun(prompt)
        text = self._rendered(prompt, prompt.messages, True)
        return self._with_thinking_closed(prompt, text)

    def _begun(self, prompt: ChatPrompt) -> str:
        """The prompt with the beginning of the answer, which the model goes on with."""
        *before, last = prompt.messages
        text = self._with_thinking_closed(prompt, self._rendered(prompt, before, True))
        if self.format.family is Family.HARMONY:
            text += "<|channel|>final<|message|>"
        elif self.format.thinking is not None and self.format.opens_thinking(text):
            text = f"{text.rstrip()}\n\n{self.format.thinking[1]}\n\n"
        return text + str(last.get("content") or "")

    def beginnings(self, prompt: ChatPrompt, text: str, count: int) -> list[str]:
        """Beginnings of `text` that end where one of the last `count` messages ends: what a next turn will share."""
        found = []
        for length in range(max(1, len(prompt.messages) - count + 1), len(prompt.messages) + 1):
            try:
                beginning = self._rendered(prompt, prompt.messages[:length], False)
            except TemplateError:  # a template may refuse a conversation that ends like this
                continue
            if text.startswith(beginning) and len(beginning) < len(text):
                found.append(beginning)
        return found

    def _rendered(self, prompt: ChatPrompt, messages: Sequence[Mapping[str, Any]], generate: bool) -> str:
        tools = [_as_openai(tool) for tool in prompt.tools] if prompt.tool_choice.mode != "none" else []
        knows = template_knows_tools(self.template)
        plain = [dict(message) for message in messages] if knows else with_tools_described(messages, tools)
        variables = self._variables(prompt, generate) | ({"tools": tools} if tools and knows else {})
        try:
            return self._render(self.template, variables | {"messages": _arguments_as_objects(plain)})
        except TemplateError:
            # Some templates write a call's arguments as they are, and want them as text.
            if not any("tool_calls" in message for message in plain):
                raise
            return self._render(self.template, variables | {"messages": plain})

    def _variables(self, prompt: ChatPrompt, generate: bool) -> dict[str, Any]:
        variables: dict[str, Any] = {
            "bos_token": self._texts.bos,
            "eos_token": self._texts.eos,
            "add_generation_prompt": generate,
        }
        if prompt.thinking is not None:
            # The names under which templates have the switch.
            variables |= {"enable_thinking": prompt.thinking, "thinking": prompt.thinking}
        return variables | dict(prompt.template_arguments)

    def _with_thinking_closed(self, prompt: ChatPrompt, text: str) -> str:
        """For templates without a switch: thinking that is not wanted is closed before it begins."""
        markers = self.format.thinking
        if prompt.thinking is not False or markers is None or self.format.family is Family.HARMONY:
            return text
        if self.format.opens_thinking(text):
            return f"{text.rstrip()}\n\n{markers[1]}\n\n"
        if "enable_thinking" in self.template or text.rstrip().endswith(markers[1]):
            return text
        return f"{text}{markers[0]}\n\n{markers[1]}\n\n"


def _as_openai(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _arguments_as_objects(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls with their arguments as objects, which is how most templates want them."""
    return [
        dict(message, tool_calls=[_call_with_object(call) for call in message["tool_calls"]])
        if message.get("tool_calls")
        else message
        for message in messages
    ]


def _call_with_object(call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call["function"])
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except (ValueError, TypeError):
        return dict(call)
    return dict(call, function=dict(function, arguments=arguments)) if isinstance(arguments, dict) else dict(call)
