"""Requests and events below the edge: typed, without JSON or HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.chat_format.parts import Part
from engine.server.errors import ApiError

FinishReason = Literal["stop", "length", "tool_calls", "cancelled"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen. A temperature of 0 always takes the likeliest; `seed` None draws a new one."""

    temperature: float = 0.8
    top_p: float = 0.95
    top_k: int = 40
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    seed: int | None = None
    logit_bias: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; `parameters` is its JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether a tool is called: `auto` lets the model choose, `required` makes it call one, `name` which one."""

    mode: Literal["auto", "none", "required"] = "auto"
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A conversation for the model's own template.

    Attributes:
        messages: in OpenAI's shape, content flattened to text.
        thinking: True asks for thinking, False turns it off, None leaves it to the template.
        template_arguments: further variables for the template.
        continues: whether the answer goes on with the last message, the assistant's, instead of following it.
    """

    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = field(default_factory=ToolChoice)
    thinking: bool | None = None
    template_arguments: Mapping[str, Any] = field(default_factory=dict)
    continues: bool = False


@dataclass(frozen=True, slots=True)
class TextPrompt:
    """Text, or token ids, to go on from as they are."""

    text: str = ""
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """One answer asked for.

    Attributes:
        max_tokens: None: until the context is full.
        stop: texts that end the answer and are not part of it.
        top_logprobs: None: no log-probabilities; n: those of the chosen token and the n likeliest.
        json_schema: the answer must be JSON of this schema; an empty mapping means any JSON object.
        reuse: what the context already holds of this prompt is not computed again.
        client: whose request this is, for fairness.
        time_limit: seconds from now after which the answer ends as it is.
    """

    prompt: ChatPrompt | TextPrompt
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    top_logprobs: int | None = None
    json_schema: Mapping[str, Any] | None = None
    reuse: bool = True
    client: str = ""
    time_limit: float = 3600.0


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A chosen token with its natural log-probability and the likeliest alternatives (text, log-probability)."""

    piece: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...]


@dataclass(frozen=True, slots=True)
class Started:
    """The prompt is computed; `reused_tokens` of it came from an earlier answer."""

    prompt_tokens: int
    reused_tokens: int


@dataclass(frozen=True, slots=True)
class PromptRead:
    """`done` of `total` prompt tokens are computed."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Delta:
    """Parts of the answer that became known with one token."""

    parts: tuple[Part, ...]
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Timings:
    """What an answer cost; `hit_rate` is None where nothing is streamed."""

    prompt_n: int
    prompt_ms: float
    predicted_n: int
    predicted_ms: float
    hit_rate: float | None
    stall_ms: float
    bytes_read: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of an answer: the prompt's, those of it that were reused, and the answer's own."""

    prompt_tokens: int
    reused_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete. `stop_text` is the stop string that ended it."""

    reason: FinishReason
    usage: Usage
    timings: Timings
    stop_text: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The answer ended with an error."""

    error: ApiError


Event = Started | PromptRead | Delta | Finished | Failed
