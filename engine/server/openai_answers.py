"""From events to OpenAI's JSON: whole answers and chunks of streams."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from engine.chat_format.parts import Content, Part, Reasoning, ToolArguments, ToolEnd, ToolStart
from engine.server.request import Delta, Finished, TokenLogprob, Usage

Json = dict[str, Any]


def usage_json(usage: Usage) -> Json:
    """OpenAI's usage object."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.reused_tokens},
    }


def _finish_reason(finished: Finished) -> str:
    return "stop" if finished.reason == "cancelled" else finished.reason


@dataclass
class _Call:
    call_id: str
    name: str
    arguments: str = ""

    def as_json(self) -> Json:
        return {
            "id": f"call_{self.call_id}",
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


@dataclass
class ChatAnswer:
    """A chat answer as it grows: chunks for a stream, or the whole at the end."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))
    _content: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _logprobs: list[Json] = field(default_factory=list)

    def take(self, delta: Delta) -> None:
        """Add a delta to the whole."""
        self._logprobs += [chat_logprob(entry) for entry in delta.logprobs]
        for part in delta.parts:
            match part:
                case Content(text):
                    self._content.append(text)
                case Reasoning(text):
                    self._reasoning.append(text)
                case ToolStart(_, call_id, name):
                    self._calls.append(_Call(call_id, name))
                case ToolArguments(index, text):
                    self._calls[index].arguments += text

    def whole(self, finished: Finished) -> Json:
        """The complete answer."""
        content = "".join(self._content)
        message: Json = {"role": "assistant", "content": content if content or not self._calls else None}
        if self._reasoning:
            message["reasoning_content"] = "".join(self._reasoning)
        if self._calls:
            message["tool_calls"] = [call.as_json() for call in self._calls]
        logprobs = {"content": self._logprobs} if self._logprobs else None
        choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": _finish_reason(finished)}
        return self._object("chat.completion", [choice]) | _account(finished)

    def first_chunk(self) -> Json:
        """The chunk that opens a stream."""
        return self._chunk({"role": "assistant", "content": ""})

    def chunks(self, delta: Delta) -> Iterator[Json]:
        """The chunks of a delta."""
        logprobs = [chat_logprob(entry) for entry in delta.logprobs]
        shown = [_delta(part) for part in delta.parts if not isinstance(part, ToolEnd)]
        for at, content in enumerate(shown or ([{}] if logprobs else [])):
            yield self._chunk(content, logprobs=logprobs if at == 0 else None)

    def last_chunks(self, finished: Finished, include_usage: bool) -> Iterator[Json]:
        """The chunks that close a stream. Timings come with the finish, and with the usage where it is wanted."""
        account = _account(finished)
        last = self._chunk({}, finish=_finish_reason(finished))
        yield last if include_usage else last | {"timings": account["timings"]}
        if include_usage:
            yield self._object("chat.completion.chunk", []) | account

    def _chunk(self, delta: Json, *, logprobs: list[Json] | None = None, finish: str | None = None) -> Json:
        shown = {"content": logprobs} if logprobs else None
        return self._object(
            "chat.completion.chunk", [{"index": 0, "delta": delta, "logprobs": shown, "finish_reason": finish}]
        )

    def _object(self, kind: str, choices: list[Json]) -> Json:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices}


def _delta(part: Part) -> Json:
    match part:
        case Content(text):
            return {"content": text}
        case Reasoning(text):
            return {"reasoning_content": text}
        case ToolStart(index, call_id, name):
            return {"tool_calls": [{"index": index} | _Call(call_id, name).as_json()]}
        case ToolArguments(index, text):
            return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}
    return {}


def _account(finished: Finished) -> Json:
    return {"usage": usage_json(finished.usage), "timings": asdict(finished.timings)}


def _shown(piece: bytes) -> str:
    return piece.decode("utf-8", "replace")


def chat_logprob(entry: TokenLogprob) -> Json:
    """A token's log-probability and those of the likeliest, natural logarithms."""
    top = [{"token": _shown(piece), "logprob": value, "bytes": list(piece)} for piece, value in entry.top]
    own = {"token": _shown(entry.piece), "logprob": entry.logprob, "bytes": list(entry.piece)}
    return own | {"top_logprobs": top}


@dataclass
class TextAnswer:
    """A plain completion as it grows."""

    model: str
    echo: str = ""
    id: str = field(default_factory=lambda: f"cmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))
    _text: list[str] = field(default_factory=list)
    _logprobs: list[TokenLogprob] = field(default_factory=list)

    def take(self, delta: Delta) -> None:
        """Add a delta to the whole."""
        self._text.append(_text_of(delta.parts))
        self._logprobs += delta.logprobs

    def whole(self, finished: Finished) -> Json:
        """The complete answer."""
        text = self.echo + "".join(self._text)
        return self._object(text, self._logprobs, _finish_reason(finished)) | _account(finished)

    def first_chunk(self) -> Json:
        """The chunk that opens a stream: the prompt, if it is to be echoed."""
        return self._object(self.echo, (), None)

    def chunks(self, delta: Delta) -> Iterator[Json]:
        """The chunk of a delta."""
        yield self._object(_text_of(delta.parts), delta.logprobs, None)

    def last_chunks(self, finished: Finished, include_usage: bool) -> Iterator[Json]:
        """The chunks that close a stream."""
        account = _account(finished)
        last = self._object("", (), _finish_reason(finished))
        yield last if include_usage else last | {"timings": account["timings"]}
        if include_usage:
            yield self._object("", (), None) | {"choices": []} | account

    def _object(self, text: str, logprobs: Sequence[TokenLogprob], finish: str | None) -> Json:
        choice = {"index": 0, "text": text, "logprobs": _text_logprobs(logprobs), "finish_reason": finish}
        return {
            "id": self.id,
            "object": "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": [choice],
        }


def _text_of(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Content))


def _text_logprobs(entries: Sequence[TokenLogprob]) -> Json | None:
    if not entries:
        return None
    return {
        "tokens": [_shown(entry.piece) for entry in entries],
        "token_logprobs": [entry.logprob for entry in entries],
        "top_logprobs": [{_shown(piece): value for piece, value in entry.top} for entry in entries],
    }
