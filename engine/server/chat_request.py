"""From OpenAI's JSON bodies to typed requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.server.engine_models import TokenizeBody
from engine.server.errors import bad_request
from engine.server.openai_models import (
    ChatBody,
    ChatMessage,
    CompletionBody,
    JsonObjectFormat,
    JsonSchemaFormat,
    NamedTool,
    ResponseFormat,
    SamplingBody,
    ToolEntry,
)
from engine.server.request import AnswerRequest, ChatPrompt, Sampling, TextPrompt, Tool, ToolChoice
from engine.settings import EngineSettings


def sampling_of(body: SamplingBody, settings: EngineSettings) -> Sampling:
    """How tokens are chosen: the body's wishes, else the engine's settings."""

    def either(name: str) -> Any:
        wish = getattr(body, name)
        return getattr(settings, name) if wish is None else wish

    return Sampling(
        temperature=either("temperature"),
        top_p=either("top_p"),
        top_k=either("top_k"),
        min_p=either("min_p"),
        repeat_penalty=either("repeat_penalty"),
        frequency_penalty=body.frequency_penalty or 0.0,
        presence_penalty=body.presence_penalty or 0.0,
        seed=either("seed"),
        logit_bias=_logit_bias(body.logit_bias or {}),
    )


def _logit_bias(bias: Mapping[str, float]) -> dict[int, float]:
    try:
        return {int(token): value for token, value in bias.items()}
    except ValueError:
        raise bad_request("logit_bias maps token ids to numbers", param="logit_bias") from None


def chat_request(body: ChatBody, settings: EngineSettings, client: str, seconds: float) -> AnswerRequest:
    """The typed request of a chat body."""
    top = None if not body.logprobs else body.top_logprobs or 0
    return AnswerRequest(
        prompt=chat_prompt(body),
        sampling=sampling_of(body, settings),
        max_tokens=body.max_completion_tokens or body.max_tokens,
        stop=stops_of(body),
        top_logprobs=top,
        json_schema=_schema(body.response_format),
        reuse=body.cache_prompt is not False,
        client=body.user or client,
        time_limit=seconds,
    )


def completion_request(body: CompletionBody, settings: EngineSettings, client: str, seconds: float) -> AnswerRequest:
    """The typed request of a completion body."""
    prompt = TextPrompt(text=body.prompt) if isinstance(body.prompt, str) else TextPrompt(tokens=tuple(body.prompt))
    return AnswerRequest(
        prompt=prompt,
        sampling=sampling_of(body, settings),
        max_tokens=body.max_tokens or 16,
        stop=stops_of(body),
        top_logprobs=body.logprobs,
        json_schema=_schema(body.response_format),
        reuse=body.cache_prompt is not False,
        client=body.user or client,
        time_limit=seconds,
    )


def stops_of(body: SamplingBody) -> tuple[str, ...]:
    """Texts that end the answer; empty ones are left out."""
    stops = [body.stop] if isinstance(body.stop, str) else body.stop or []
    return tuple(stop for stop in stops if stop)


def _schema(wanted: ResponseFormat | None) -> Mapping[str, Any] | None:
    if isinstance(wanted, JsonObjectFormat):
        return wanted.schema_ or {}
    if isinstance(wanted, JsonSchemaFormat):
        return wanted.json_schema.schema_ or {}
    return None


def chat_prompt(body: ChatBody) -> ChatPrompt:
    """The conversation of a chat body."""
    arguments = dict(body.chat_template_kwargs or {})
    thinking = arguments.pop("enable_thinking", None)
    if body.reasoning_effort is not None:
        thinking = body.reasoning_effort != "none" if thinking is None else thinking
        arguments.setdefault("reasoning_effort", body.reasoning_effort)
    if "messages" in arguments or "add_generation_prompt" in arguments:
        raise bad_request("chat_template_kwargs may not replace the conversation", param="chat_template_kwargs")
    if body.continue_final_message and body.messages[-1].role != "assistant":
        message = "continue_final_message wants an assistant's message at the end"
        raise bad_request(message, param="continue_final_message")
    return ChatPrompt(
        messages=tuple(_message(message) for message in body.messages),
        tools=_tools(body.tools),
        tool_choice=_choice(body.tool_choice),
        thinking=None if thinking is None else bool(thinking),
        template_arguments=arguments,
        continues=body.continue_final_message,
    )


def prompt_of(body: TokenizeBody) -> ChatPrompt | TextPrompt:
    """What `/engine/tokenize` counts."""
    if body.messages is None:
        return TextPrompt(text=body.text or "")
    return ChatPrompt(tuple(_message(message) for message in body.messages), _tools(body.tools))


def _tools(tools: list[ToolEntry] | None) -> tuple[Tool, ...]:
    functions = [tool.function for tool in tools or ()]
    return tuple(Tool(entry.name, entry.description or "", entry.parameters or {}) for entry in functions)


def _choice(choice: str | NamedTool | None) -> ToolChoice:
    if isinstance(choice, NamedTool):
        return ToolChoice("required", choice.function.name)
    if choice == "none":
        return ToolChoice("none")
    return ToolChoice("required") if choice == "required" else ToolChoice()


def _message(message: ChatMessage) -> dict[str, Any]:
    """A message as templates expect it: content is text, empty fields are left out."""
    role = {"developer": "system", "function": "tool"}.get(message.role, message.role)
    result: dict[str, Any] = {"role": role, "content": _text(message)}
    if message.tool_calls:
        result["tool_calls"] = [call.model_dump(exclude_none=True) for call in message.tool_calls]
    for name in ("name", "tool_call_id", "reasoning_content"):
        value = getattr(message, name)
        if value is not None:
            result[name] = value
    return result


def _text(message: ChatMessage) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    unknown = next((part.type for part in message.content if part.text is None), None)
    if unknown is not None:
        raise bad_request(f"content parts of type {unknown!r} are not understood; send text", "unsupported", "messages")
    return "\n".join(part.text or "" for part in message.content)
