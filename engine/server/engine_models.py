"""JSON of the `/engine` routes and `/health`."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, IPvAnyAddress, model_validator

from engine.server.openai_models import MAX_MESSAGES, MAX_TOOLS, ChatMessage, ToolEntry
from engine.trace.live import MOST_BYTES


class EngineBody(BaseModel):
    """A request body: unknown fields are accepted, wrong ones are not."""

    model_config = ConfigDict(extra="allow")


class ErrorDetail(BaseModel):
    """What went wrong: one line for a person, a short stable name for a program."""

    model_config = ConfigDict(extra="allow")

    message: str
    code: str


class EngineError(BaseModel):
    """The body of every answer of these routes with a status of 400 or more."""

    error: ErrorDetail


class HealthAnswer(BaseModel):
    """What the engine is doing."""

    state: Literal["empty", "loading", "ready", "busy", "failed"]
    model: str | None
    progress: float = Field(ge=0, le=1, description="share of a load that is done")
    phase: str = Field(description="what a load is doing")
    error: ErrorDetail | None = Field(description="why the state is failed")
    version: str


class LoadBody(EngineBody):
    """Which model to load, and settings that differ from those in use."""

    model: str = Field(min_length=1, max_length=4096, description="id from /v1/models, or a path in a model folder")
    settings: dict[str, Any] = Field(default_factory=dict, description="engine settings by name")


class Accepted(BaseModel):
    """It has begun; the event stream tells the rest."""

    accepted: Literal[True] = True
    model: str | None = None


class Done(BaseModel):
    """Whether there was anything to do."""

    done: bool


class SettingsAnswer(BaseModel):
    """All engine settings, and the JSON schema that describes each (title, description, bounds, unit)."""

    values: dict[str, Any]
    schema_: dict[str, Any] = Field(alias="schema")


class SettingsChange(EngineBody):
    """Engine settings by name; those left out stay as they are."""


class SettingsChanged(BaseModel):
    """The settings now, and what became of the changed ones."""

    values: dict[str, Any]
    applied: list[str] = Field(description="in effect now")
    needs_reload: list[str] = Field(description="in effect when a model is loaded next")


class CacheBody(EngineBody):
    """The size the expert cache should have."""

    bytes: int = Field(ge=0, le=1 << 50)


class CacheAnswer(BaseModel):
    """The size the expert cache was given; 0 where nothing is streamed."""

    bytes: int


class ExpertMapAnswer(BaseModel):
    """Per layer and expert: uses since the load, whether it is in memory, the token of its last use (-1: none)."""

    uses: list[list[int]]
    resident: list[list[bool]]
    last_use: list[list[int]]


class LogAnswer(BaseModel):
    """Log lines, oldest first."""

    lines: list[str]


class ClientSeen(BaseModel):
    """A program that used the service lately."""

    client: str
    address: str
    requests: int
    last: float = Field(description="seconds since 1970")


class RequestSeen(BaseModel):
    """One request of another program; status 0 while it runs, 499 when the client left before an answer."""

    started: float = Field(description="seconds since 1970")
    client: str
    address: str
    method: str
    path: str
    status: int
    seconds: float


class RequestsAnswer(BaseModel):
    """Who uses the service, and the latest requests, oldest first."""

    clients: list[ClientSeen]
    requests: list[RequestSeen]


class TokenizeBody(EngineBody):
    """A text, or a conversation as it would be sent to the model."""

    text: str | None = None
    messages: list[ChatMessage] | None = Field(default=None, min_length=1, max_length=MAX_MESSAGES)
    tools: list[ToolEntry] | None = Field(default=None, max_length=MAX_TOOLS)

    @model_validator(mode="after")
    def _one_of_both(self) -> TokenizeBody:
        if (self.text is None) == (self.messages is None):
            raise ValueError("give either text or messages")
        return self


class TokenizeAnswer(BaseModel):
    """The number of tokens and how many the context holds."""

    tokens: int
    context_length: int


class InspectBody(EngineBody):
    """A model file or folder."""

    path: str = Field(min_length=1, max_length=4096)


class TraceBody(EngineBody):
    """Whether to record which experts each token uses, the file's name (no folder) and its greatest size."""

    on: bool
    path: str | None = Field(default=None, min_length=1, max_length=200)
    max_bytes: int = Field(default=MOST_BYTES, ge=1 << 16, le=1 << 34)


class TraceAnswer(BaseModel):
    """How far a recording is.

    It ends by itself when the file is full (`full`) or cannot be written (`failed`, with the reason in `error`).
    """

    path: str | None = Field(description="the file that is being written; null when nothing is")
    file: str | None = Field(default=None, description="the file of the latest recording")
    state: Literal["off", "recording", "full", "failed", "stopped"]
    tokens: int = Field(default=0, description="tokens recorded, those of prompts included")
    bytes: int = 0
    max_bytes: int = 0
    dropped: int = Field(default=0, description="tokens that came faster than they could be written")
    error: str | None = None


class TuneBody(EngineBody):
    """How long the tuner may take."""

    budget_s: float = Field(default=180.0, gt=0, le=86_400)


class DoorBody(EngineBody):
    """Whether other programs may come in, at which address of this machine, and with which key."""

    open: bool
    host: IPvAnyAddress = Field(default="127.0.0.1", validate_default=True, description="0.0.0.0: from other computers")
    port: int = Field(default=8080, ge=0, le=65_535, description="0: any free one")
    key: str = Field(default="", max_length=200, description="at least 16 characters where the door is to open")

    @model_validator(mode="after")
    def _needs_a_key(self) -> Self:
        if self.open and len(self.key) < 16:
            raise ValueError("a key of at least 16 characters is needed to open the door")
        return self


class DoorAnswer(BaseModel):
    """Where programs on this machine come in; null while the door is closed."""

    url: str | None
