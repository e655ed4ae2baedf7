"""JSON of Anthropic's routes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, Tag

from engine.server.openai_models import MAX_MESSAGES, MAX_STOPS, MAX_TOKENS, MAX_TOOLS, Body


class TextBlock(Body):
    """Text."""

    type: Literal["text"]
    text: str


class ToolUseBlock(Body):
    """A call the model made earlier."""

    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(Body):
    """What a call gave."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[ContentBlock] | None = None
    is_error: bool | None = None


class ThinkingBlock(Body):
    """What the model thought earlier."""

    type: Literal["thinking"]
    thinking: str
    signature: str | None = None


class OtherBlock(Body):
    """A block of a type that is not understood."""

    type: str


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in ("text", "tool_use", "tool_result", "thinking") else "other"


ContentBlock = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ToolUseBlock, Tag("tool_use")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[OtherBlock, Tag("other")],
    Discriminator(_kind),
]


class AnthropicMessage(Body):
    """A message of the conversation."""

    role: Literal["user", "assistant", "system"]
    content: str | list[ContentBlock]


class AnthropicTool(Body):
    """A tool the model may call."""

    name: str = Field(min_length=1, max_length=256, pattern=r"^[^\s\"<>\[\]{}|]+$")
    description: str | None = None
    input_schema: dict[str, Any] | None = None


class AnthropicToolChoice(Body):
    """Whether a tool is called."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None


class ThinkingSwitch(Body):
    """Whether the model thinks."""

    type: Literal["enabled", "disabled", "adaptive"]


class OutputFormat(Body):
    """The answer must be JSON of this schema."""

    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(Body):
    """Wishes for the answer's form."""

    format: OutputFormat | None = None


class Metadata(Body):
    """Facts about the request."""

    user_id: str | None = Field(default=None, max_length=1000)


class CountBody(Body):
    """`POST /v1/messages/count_tokens`."""

    model: str = Field(default="default", max_length=4096)
    messages: list[AnthropicMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    system: str | list[ContentBlock] | None = None
    tools: list[AnthropicTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: AnthropicToolChoice | None = None
    thinking: ThinkingSwitch | None = None


class MessagesBody(CountBody):
    """`POST /v1/messages`."""

    max_tokens: int = Field(ge=1, le=MAX_TOKENS)
    temperature: float | None = Field(default=None, ge=0, le=10)
    top_p: float | None = Field(default=None, ge=0, le=1)
    top_k: int | None = Field(default=None, ge=0, le=1 << 31)
    stop_sequences: list[Annotated[str, Field(max_length=1000)]] | None = Field(default=None, max_length=MAX_STOPS)
    stream: bool | None = None
    metadata: Metadata | None = None
    output_config: OutputConfig | None = None


class CountAnswer(BaseModel):
    """The number of the prompt's tokens."""

    input_tokens: int


class AnthropicErrorFields(BaseModel):
    """Anthropic's error."""

    type: str
    message: str


class AnthropicError(BaseModel):
    """The body of every answer with a status of 400 or more."""

    type: Literal["error"]
    error: AnthropicErrorFields
