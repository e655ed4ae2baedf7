"""From events to the JSON of OpenAI's Responses API: whole responses and stream events."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from engine.chat_format.parts import Content, Part, Reasoning, ToolArguments, ToolEnd, ToolStart
from engine.server.errors import ApiError
from engine.server.openai_answers import chat_logprob
from engine.server.request import Delta, Finished, Usage
from engine.server.responses_models import ResponsesBody
from engine.server.responses_request import CUSTOM_INPUT, custom_tools

Json = dict[str, Any]


def _usage(usage: Usage, reasoning: int) -> Json:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.reused_tokens},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


def _id(kind: str) -> str:
    return f"{kind}_{secrets.token_hex(12)}"


@dataclass
class ResponseAnswer:
    """A response as it grows: items of thinking, text and calls, numbered in their order.

    Attributes:
        model: id of the model that answers.
        body: the request, whose wishes the response repeats.
    """

    model: str
    body: ResponsesBody
    id: str = field(default_factory=lambda: _id("resp"))
    _created: int = field(default_factory=lambda: int(time.time()))
    _items: list[Json] = field(default_factory=list)
    _text: str = ""  # of the item that is being written: its text, thinking or arguments
    _logprobs: list[Json] = field(default_factory=list)
    _thinking: int = 0  # tokens that brought thinking
    _events: int = 0

    def take(self, delta: Delta) -> None:
        """Add a delta to the whole."""
        for _ in self.events(delta):
            pass

    def whole(self, finished: Finished) -> Json:
        """The complete response."""
        for _ in self._end_item(cut=finished.reason == "length"):
            pass
        return self._response(finished)

    def first_events(self) -> Iterator[Json]:
        """What opens a stream."""
        yield self._event("response.created", response=self._response(None))
        yield self.progress_event()

    def progress_event(self) -> Json:
        """The sign of life while a long prompt is read: clients take minutes of silence for a dead server."""
        return self._event("response.in_progress", response=self._response(None))

    def events(self, delta: Delta) -> Iterator[Json]:
        """The events of a delta: items begin, grow and end."""
        self._thinking += any(isinstance(part, Reasoning) for part in delta.parts)
        logprobs = [chat_logprob(entry) for entry in delta.logprobs]
        for part in delta.parts:
            yield from self._part(part, logprobs)

    def last_events(self, finished: Finished) -> Iterator[Json]:
        """What closes the stream."""
        yield from self._end_item(cut=finished.reason == "length")
        response = self._response(finished)
        yield self._event(f"response.{response['status']}", response=response)

    def failed_event(self, error: ApiError) -> Json:
        """What closes the stream of an answer that failed."""
        fields = {"status": "failed", "error": {"code": error.code, "message": str(error)}}
        return self._event("response.failed", response=self._response(None) | fields)

    def _event(self, kind: str, **fields: Any) -> Json:
        self._events += 1
        return {"type": kind, "sequence_number": self._events - 1, **fields}

    def _response(self, finished: Finished | None) -> Json:
        cut = finished is not None and finished.reason == "length"
        status = "in_progress" if finished is None else "incomplete" if cut else "completed"
        response = self._wishes() | {
            "id": self.id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self.model,
            "output": [dict(item) for item in self._items],
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "usage": None if finished is None else _usage(finished.usage, self._thinking),
        }
        return response if finished is None else response | {"timings": asdict(finished.timings)}

    def _wishes(self) -> Json:
        """The request's own fields as clients expect to find them in the response."""
        body = self.body.model_dump(
            mode="json",
            by_alias=True,
            include={"instructions", "metadata", "tools", "tool_choice", "reasoning", "temperature", "top_p"},
        )
        body |= {"tools": body["tools"] or [], "tool_choice": body["tool_choice"] or "auto"}
        fixed = {"previous_response_id": None, "store": False, "truncation": "disabled"}
        calls = self.body.parallel_tool_calls is not False
        return body | fixed | {"max_output_tokens": self.body.max_output_tokens, "parallel_tool_calls": calls}

    def _part(self, part: Part, logprobs: list[Json]) -> Iterator[Json]:
        match part:
            case Content(text):
                yield from self._begin("message", {"role": "assistant", "content": []})
                self._logprobs += logprobs
                yield self._grow("response.output_text.delta", text, content_index=0, logprobs=logprobs)
            case Reasoning(text):
                yield from self._begin("reasoning", {"summary": [], "content": []})
                yield self._grow("response.reasoning_text.delta", text, content_index=0)
            case ToolStart(_, call_id, name):
                yield from self._end_item()
                custom = name in custom_tools(self.body)
                kind, argument = ("custom_tool_call", "input") if custom else ("function_call", "arguments")
                yield from self._begin(kind, {"call_id": f"call_{call_id}", "name": name, argument: ""})
            case ToolArguments(_, text):
                if self._open == "function_call":
                    yield self._grow("response.function_call_arguments.delta", text)
                else:  # the free text of a custom tool is known when its JSON is complete
                    self._text += text
            case ToolEnd():
                yield from self._end_item()

    @property
    def _open(self) -> str | None:
        """Type of the item that is being written."""
        last = self._items[-1] if self._items else None
        return last["type"] if last is not None and last["status"] == "in_progress" else None

    def _place(self) -> Json:
        return {"item_id": self._items[-1]["id"], "output_index": len(self._items) - 1}

    def _grow(self, kind: str, text: str, **fields: Any) -> Json:
        self._text += text
        return self._event(kind, **self._place(), delta=text, **fields)

    def _begin(self, kind: str, fields: Json) -> Iterator[Json]:
        if self._open == kind:
            return
        yield from self._end_item()
        prefix = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}[kind]
        self._text, self._logprobs = "", []
        self._items.append({"id": _id(prefix), "type": kind, "status": "in_progress"} | fields)
        added = self._event("response.output_item.added", output_index=len(self._items) - 1, item=dict(self._items[-1]))
        yield added
        part = self._content("")
        if part is not None:
            yield self._event("response.content_part.added", **self._place(), content_index=0, part=part)

    def _content(self, text: str) -> Json | None:
        """The item's one part with `text`, where it has parts."""
        if self._open == "message":
            return {"type": "output_text", "text": text, "annotations": [], "logprobs": list(self._logprobs)}
        return {"type": "reasoning_text", "text": text} if self._open == "reasoning" else None

    def _end_item(self, cut: bool = False) -> Iterator[Json]:
        kind = self._open
        if kind is None:
            return
        item, part = self._items[-1], self._content(self._text)
        if part is not None:
            name = "output_text" if kind == "message" else "reasoning_text"
            logprobs = {"logprobs": list(self._logprobs)} if kind == "message" else {}
            place = self._place() | {"content_index": 0}
            yield self._event(f"response.{name}.done", **place, text=self._text, **logprobs)
            yield self._event("response.content_part.done", **place, part=part)
            item["content"] = [part]
        elif kind == "function_call":
            item["arguments"] = self._text
            done = {"arguments": self._text, "name": item["name"]}
            yield self._event("response.function_call_arguments.done", **self._place(), **done)
        else:
            item["input"] = _free_text(self._text)
            yield self._event("response.custom_tool_call_input.delta", **self._place(), delta=item["input"])
            yield self._event("response.custom_tool_call_input.done", **self._place(), input=item["input"])
        item["status"] = "incomplete" if cut else "completed"
        yield self._event("response.output_item.done", output_index=len(self._items) - 1, item=dict(item))


def _free_text(arguments: str) -> str:
    """The text in a custom tool's arguments; what the model wrote, where that is no JSON."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    return str(value.get(CUSTOM_INPUT, arguments)) if isinstance(value, dict) else arguments
