"""JSON of OpenAI's Responses API: request bodies. Answers are made in `responses_answers`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from engine.server.openai_models import MAX_MESSAGES, MAX_TOKENS, MAX_TOOLS, Body, SamplingBody


class InputPart(Body):
    """A part of a message or of a tool's output; text is understood, whatever the part's type calls it."""

    type: str
    text: str | None = None


class InputItem(Body):
    """An item of the conversation. Which fields it needs depends on its type; `responses_request` checks that."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[InputPart] | None = None
    summary: list[InputPart] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    output: str | list[InputPart] | None = None


class ResponsesTool(Body):
    """A tool: functions and custom tools are the model's to call, those that run on OpenAI's servers are left out."""

    type: str
    name: str | None = Field(default=None, min_length=1, max_length=256, pattern=r"^[^\s\"<>\[\]{}|]+$")
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ResponsesToolChoice(Body):
    """Which tool must be called."""

    type: str
    name: str | None = None
    mode: Literal["auto", "required"] | None = None


class ReasoningWishes(Body):
    """How much the model thinks."""

    effort: str | None = Field(default=None, max_length=40, description="none turns thinking off")


class ResponseFormatEntry(Body):
    """The answer's form: text, any JSON object, or JSON of a schema."""

    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")


class TextWishes(Body):
    """Wishes for the answer's text."""

    format: ResponseFormatEntry | None = None


class ResponsesBody(SamplingBody):
    """`POST /v1/responses`. Nothing is stored: the whole conversation comes in `input`."""

    model: str = Field(default="default", max_length=4096)
    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=MAX_MESSAGES)]
    instructions: str | None = None
    max_output_tokens: int | None = Field(default=None, ge=1, le=MAX_TOKENS)
    previous_response_id: str | None = Field(default=None, description="refused: responses are not stored")
    background: bool | None = Field(default=None, description="true is refused: answers are not kept for later")
    tools: list[ResponsesTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] | ResponsesToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: ReasoningWishes | None = None
    text: TextWishes | None = None
    include: list[str] | None = Field(default=None, max_length=32)
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    metadata: dict[str, Any] | None = None
