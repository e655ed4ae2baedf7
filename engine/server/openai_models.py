"""JSON of the OpenAI routes: request bodies, and what answers contain."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_MESSAGES = 10_000
MAX_STOPS = 16
MAX_TOOLS = 512
MAX_TOKENS = 1 << 24
LARGEST_SEED = (1 << 63) - 1


class Body(BaseModel):
    """Unknown fields are accepted: clients send what only other servers understand."""

    model_config = ConfigDict(extra="allow")


class ContentPart(Body):
    """A part of a message; text is understood."""

    type: str
    text: str | None = None


class FunctionCall(Body):
    """A call's function: its arguments are JSON text."""

    name: str
    arguments: str = ""


class ToolCallEntry(Body):
    """A call the model made earlier."""

    id: str | None = None
    type: Literal["function"] = "function"
    function: FunctionCall


class ChatMessage(Body):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None
    name: str | None = None
    tool_calls: list[ToolCallEntry] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_call_id: str | None = None
    reasoning_content: str | None = None


class FunctionEntry(Body):
    """A function the model may call."""

    name: str = Field(min_length=1, max_length=256, pattern=r"^[^\s\"<>\[\]{}|]+$")
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolEntry(Body):
    """A tool; functions are understood."""

    type: Literal["function"]
    function: FunctionEntry


class NamedFunction(Body):
    """Which function."""

    name: str


class NamedTool(Body):
    """Which tool must be called."""

    type: Literal["function"]
    function: NamedFunction


class SchemaEntry(Body):
    """A JSON schema with a name."""

    name: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool | None = None


class TextFormat(Body):
    """Plain text."""

    type: Literal["text"]


class JsonObjectFormat(Body):
    """Any JSON object."""

    type: Literal["json_object"]
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")


class JsonSchemaFormat(Body):
    """JSON of a schema."""

    type: Literal["json_schema"]
    json_schema: SchemaEntry


ResponseFormat = Annotated[TextFormat | JsonObjectFormat | JsonSchemaFormat, Field(discriminator="type")]


class StreamOptions(Body):
    """What a stream carries besides the answer."""

    include_usage: bool | None = None


Stops = (
    Annotated[str, Field(max_length=1000)]
    | Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=MAX_STOPS)]
)


class SamplingBody(Body):
    """How tokens are chosen; what is left out is as the engine's settings say."""

    temperature: float | None = Field(default=None, ge=0, le=10)
    top_p: float | None = Field(default=None, ge=0, le=1)
    top_k: int | None = Field(default=None, ge=0, le=1 << 31)
    min_p: float | None = Field(default=None, ge=0, le=1)
    repeat_penalty: float | None = Field(default=None, gt=0, le=10)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    seed: int | None = Field(default=None, ge=-LARGEST_SEED, le=LARGEST_SEED)
    logit_bias: dict[str, float] | None = Field(default=None, max_length=1024)
    stop: Stops | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    user: str | None = Field(default=None, max_length=1000)
    cache_prompt: bool | None = Field(default=None, description="false: nothing of an earlier answer is reused")


class ChatBody(SamplingBody):
    """`POST /v1/chat/completions`."""

    model: str = Field(default="default", max_length=4096)
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    max_tokens: int | None = Field(default=None, ge=1, le=MAX_TOKENS)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=MAX_TOKENS)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    response_format: ResponseFormat | None = None
    tools: list[ToolEntry] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] | NamedTool | None = None
    reasoning_effort: str | None = Field(default=None, max_length=40, description="none turns thinking off")
    chat_template_kwargs: dict[str, Any] | None = None
    continue_final_message: bool = Field(default=False, description="go on with the last message, an assistant's")


class CompletionBody(SamplingBody):
    """`POST /v1/completions`."""

    model: str = Field(default="default", max_length=4096)
    prompt: str | Annotated[list[Annotated[int, Field(ge=0, lt=1 << 31)]], Field(min_length=1)] = Field(
        description="text, or token ids"
    )
    max_tokens: int | None = Field(default=None, ge=1, le=MAX_TOKENS)
    logprobs: int | None = Field(default=None, ge=0, le=20)
    echo: bool | None = None
    response_format: ResponseFormat | None = None


class EmbeddingsBody(Body):
    """`POST /v1/embeddings`."""

    model: str = Field(default="default", max_length=4096)
    input: str | Annotated[list[str], Field(min_length=1, max_length=2048)]
    encoding_format: Literal["float", "base64"] | None = None


class ErrorFields(BaseModel):
    """OpenAI's error."""

    model_config = ConfigDict(extra="allow")

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIError(BaseModel):
    """The body of every answer with a status of 400 or more."""

    error: ErrorFields


class ModelItem(BaseModel):
    """A model, in OpenAI's and in Anthropic's words."""

    id: str
    object: Literal["model"] = "model"
    type: Literal["model"] = "model"
    created: int
    created_at: str
    display_name: str
    owned_by: str = "local"
    loaded: bool


class ModelList(BaseModel):
    """All models in the model folders, in OpenAI's and in Anthropic's words."""

    object: Literal["list"] = "list"
    data: list[ModelItem]
    has_more: bool = False
    first_id: str | None
    last_id: str | None
