"""From bodies of OpenAI's Responses API to typed requests.

Its conversation is a list of items where chat templates want messages: an assistant's thinking, text and calls that
follow each other become one message, as they were when the model wrote them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.server.chat_request import sampling_of, stops_of
from engine.server.errors import bad_request
from engine.server.request import AnswerRequest, ChatPrompt, Tool, ToolChoice
from engine.server.responses_models import InputItem, InputPart, ResponsesBody, ResponsesTool
from engine.settings import EngineSettings

Json = dict[str, Any]
LOGPROBS = "message.output_text.logprobs"
CUSTOM_INPUT = "input"  # a custom tool takes free text: for the model, a function with this one argument
_CUSTOM_SCHEMA = {"type": "object", "properties": {CUSTOM_INPUT: {"type": "string"}}, "required": [CUSTOM_INPUT]}


def responses_request(body: ResponsesBody, settings: EngineSettings, client: str, seconds: float) -> AnswerRequest:
    """The typed request of a body; raises `ApiError` (400) for what needs stored responses or is not understood."""
    _refuse_stored(body)
    wants_logprobs = bool(body.top_logprobs) or LOGPROBS in (body.include or ())
    return AnswerRequest(
        prompt=responses_prompt(body),
        sampling=sampling_of(body, settings),
        max_tokens=body.max_output_tokens,
        stop=stops_of(body),
        top_logprobs=(body.top_logprobs or 0) if wants_logprobs else None,
        json_schema=_schema(body),
        reuse=body.cache_prompt is not False,
        client=body.user or client,
        time_limit=seconds,
    )


def responses_prompt(body: ResponsesBody) -> ChatPrompt:
    """The conversation of a body, in the shape that templates know."""
    messages: list[Json] = [{"role": "system", "content": body.instructions}] if body.instructions else []
    items = [InputItem(role="user", content=body.input)] if isinstance(body.input, str) else body.input
    for item in items:
        _add(messages, item)
    if not any(message["role"] != "system" for message in messages):
        raise bad_request("input has no message to answer", param="input")
    effort = None if body.reasoning is None else body.reasoning.effort
    return ChatPrompt(
        messages=tuple(messages),
        tools=tuple(_tools(body.tools or ())),
        tool_choice=_choice(body),
        thinking=None if effort is None else effort != "none",
        template_arguments={} if effort is None else {"reasoning_effort": effort},
    )


def custom_tools(body: ResponsesBody) -> frozenset[str]:
    """Names of the tools that take free text instead of JSON."""
    return frozenset(tool.name for tool in body.tools or () if tool.type == "custom" and tool.name)


def _refuse_stored(body: ResponsesBody) -> None:
    if body.previous_response_id is not None:
        message = "responses are not stored here; send the whole conversation in input instead of previous_response_id"
        raise bad_request(message, "unsupported", "previous_response_id")
    if body.background:
        raise bad_request("answers are not kept for later; leave background out", "unsupported", "background")


def _schema(body: ResponsesBody) -> Mapping[str, Any] | None:
    wanted = None if body.text is None else body.text.format
    return None if wanted is None or wanted.type == "text" else wanted.schema_ or {}


def _tools(tools: Iterable[ResponsesTool]) -> Iterable[Tool]:
    for tool in tools:
        if tool.type not in ("function", "custom"):
            continue  # a search or an interpreter on OpenAI's servers: nobody here could run it
        if tool.name is None:
            raise bad_request(f"a tool of type {tool.type} needs a name", param="tools")
        yield Tool(
            tool.name, tool.description or "", _CUSTOM_SCHEMA if tool.type == "custom" else tool.parameters or {}
        )


def _choice(body: ResponsesBody) -> ToolChoice:
    choice = body.tool_choice
    if choice is None or isinstance(choice, str):
        return ToolChoice(choice or "auto")
    if choice.type in ("function", "custom"):
        return ToolChoice("required", choice.name)
    return ToolChoice(choice.mode or "auto")


def _add(messages: list[Json], item: InputItem) -> None:
    """Put an item at the end of the conversation, joined to the last message where it belongs to it."""
    match item.type:
        case "message":
            _add_message(messages, item)
        case "reasoning":
            thoughts = [part.text for part in _parts(item.content) or item.summary or () if part.text]
            if thoughts:
                _assistant(messages, "reasoning_content")["reasoning_content"] = "\n".join(thoughts)
        case "function_call":
            _add_call(messages, item, item.arguments or "{}")
        case "custom_tool_call":
            _add_call(messages, item, json.dumps({CUSTOM_INPUT: item.input or ""}, ensure_ascii=False))
        case "function_call_output" | "custom_tool_call_output":
            messages.append({"role": "tool", "tool_call_id": item.call_id or "", "content": _text(item.output)})
        case _:
            raise bad_request(f"input items of type {item.type!r} are not understood here", "unsupported", "input")


def _add_message(messages: list[Json], item: InputItem) -> None:
    if item.role is None:
        raise bad_request("a message needs a role", param="input")
    text = _text(item.content)
    if item.role == "assistant":
        _assistant(messages, "content")["content"] = text
    elif item.role == "user":
        messages.append({"role": "user", "content": text})
    elif messages and all(message["role"] == "system" for message in messages):
        # Templates know one system message at the start; agents send instructions and a developer's message.
        messages[-1]["content"] = f"{messages[-1]['content']}\n\n{text}"
    else:
        messages.append({"role": "system", "content": text})


def _add_call(messages: list[Json], item: InputItem, arguments: str) -> None:
    if item.name is None:
        raise bad_request(f"an item of type {item.type} needs a name", param="input")
    call = {"id": item.call_id or "", "type": "function", "function": {"name": item.name, "arguments": arguments}}
    _assistant(messages, "tool_calls").setdefault("tool_calls", []).append(call)


_ORDER = ("reasoning_content", "content", "tool_calls")


def _assistant(messages: list[Json], adds: str) -> Json:
    """The assistant's message that field `adds` belongs to: the last one, unless that has already got further."""
    last = messages[-1] if messages else {}
    later = () if adds == "tool_calls" else _ORDER[_ORDER.index(adds) :]  # calls join those that are there
    if last.get("role") != "assistant" or any(last.get(name) for name in later):
        last = {"role": "assistant", "content": ""}
        messages.append(last)
    return last


def _parts(content: str | Sequence[InputPart] | None) -> Sequence[InputPart]:
    return () if content is None or isinstance(content, str) else content


def _text(content: str | Sequence[InputPart] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    unknown = next((part.type for part in content if part.text is None), None)
    if unknown is not None:
        raise bad_request(f"content of type {unknown!r} is not understood; send text", "unsupported", "input")
    return "\n".join(part.text or "" for part in content)
