"""From Anthropic's JSON bodies to typed requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from engine.server.anthropic_models import (
    AnthropicMessage,
    AnthropicToolChoice,
    ContentBlock,
    CountBody,
    MessagesBody,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from engine.server.errors import bad_request
from engine.server.request import AnswerRequest, ChatPrompt, Sampling, Tool, ToolChoice
from engine.settings import EngineSettings

Json = dict[str, Any]


def messages_request(body: MessagesBody, settings: EngineSettings, client: str, seconds: float) -> AnswerRequest:
    """The typed request of a messages body."""
    sampling = Sampling(
        temperature=settings.temperature if body.temperature is None else body.temperature,
        top_p=settings.top_p if body.top_p is None else body.top_p,
        top_k=settings.top_k if body.top_k is None else body.top_k,
        min_p=settings.min_p,
        repeat_penalty=settings.repeat_penalty,
        seed=settings.seed,
    )
    wanted = None if body.output_config is None else body.output_config.format
    user = None if body.metadata is None else body.metadata.user_id
    return AnswerRequest(
        prompt=messages_prompt(body),
        sampling=sampling,
        max_tokens=body.max_tokens,
        stop=tuple(stop for stop in body.stop_sequences or () if stop),
        json_schema=None if wanted is None else wanted.schema_,
        client=user or client,
        time_limit=seconds,
    )


def messages_prompt(body: CountBody) -> ChatPrompt:
    """The conversation of a body, in the shape that templates know."""
    messages: list[Json] = []
    system = _plain_text(body.system)
    if system:
        messages.append({"role": "system", "content": system})
    for message in body.messages:
        messages += _messages(message)
    tools = tuple(Tool(tool.name, tool.description or "", tool.input_schema or {}) for tool in body.tools or ())
    thinking = None if body.thinking is None else body.thinking.type != "disabled"
    return ChatPrompt(tuple(messages), tools, _choice(body.tool_choice), thinking)


def _choice(choice: AnthropicToolChoice | None) -> ToolChoice:
    match None if choice is None else choice.type:
        case "any":
            return ToolChoice("required")
        case "tool":
            return ToolChoice("required", choice.name if choice is not None else None)
        case "none":
            return ToolChoice("none")
    return ToolChoice()


def _messages(message: AnthropicMessage) -> Iterator[Json]:
    """A message as one or more of OpenAI's: each tool result becomes one of its own, before the rest."""
    if isinstance(message.content, str):
        yield {"role": message.role, "content": message.content}
        return
    rest: list[ContentBlock] = []
    for block in message.content:
        if isinstance(block, ToolResultBlock):
            text = _plain_text(block.content)
            shown = f"Error: {text}" if block.is_error else text
            yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": shown}
        else:
            rest.append(block)
    if rest:
        yield _without_results(message.role, rest)


def _without_results(role: str, blocks: Sequence[ContentBlock]) -> Json:
    calls = [_call(block) for block in blocks if isinstance(block, ToolUseBlock)]
    thoughts = [block.thinking for block in blocks if isinstance(block, ThinkingBlock)]
    text = _plain_text([block for block in blocks if not isinstance(block, ToolUseBlock | ThinkingBlock)])
    result: Json = {"role": role, "content": text}
    if calls:
        result["tool_calls"] = calls
    if thoughts:
        result["reasoning_content"] = "\n".join(thoughts)
    return result


def _call(block: ToolUseBlock) -> Json:
    arguments = json.dumps(block.input, ensure_ascii=False)
    return {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": arguments}}


def _plain_text(content: str | Sequence[ContentBlock] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for block in content:
        if isinstance(block, TextBlock):
            texts.append(block.text)
        elif block.type not in ("redacted_thinking",):
            raise bad_request(f"content of type {block.type!r} is not understood here", "unsupported", "messages")
    return "\n".join(texts)
