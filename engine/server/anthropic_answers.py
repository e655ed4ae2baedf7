"""From events to Anthropic's JSON: whole messages and stream events."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from engine.chat_format.parts import Content, Part, Reasoning, ToolArguments, ToolEnd, ToolStart
from engine.server.request import Delta, Finished, Usage

Json = dict[str, Any]
_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "cancelled": "end_turn"}


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt_tokens - usage.reused_tokens,
        "cache_read_input_tokens": usage.reused_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage.completion_tokens,
    }


def _stop_reason(finished: Finished) -> str:
    return "stop_sequence" if finished.stop_text is not None else _REASONS[finished.reason]


@dataclass
class MessageAnswer:
    """A message as it grows: blocks of thinking, text and tool use, numbered in their order."""

    model: str
    id: str = field(default_factory=lambda: f"msg_{secrets.token_hex(12)}")
    _blocks: list[Json] = field(default_factory=list)
    _open: str | None = None  # type of the block that is being written

    def take(self, delta: Delta) -> None:
        """Add a delta to the whole."""
        for _ in self.events(delta):
            pass

    def whole(self, finished: Finished) -> Json:
        """The complete message."""
        message = self._message([_complete(block) for block in self._blocks]) | {
            "stop_reason": _stop_reason(finished),
            "stop_sequence": finished.stop_text,
            "usage": _usage(finished.usage),
        }
        return message | {"timings": asdict(finished.timings)}

    def first_event(self, prompt_tokens: int, reused: int) -> Json:
        """`message_start`."""
        usage = _usage(Usage(prompt_tokens, reused, 0))
        empty = self._message([]) | {"stop_reason": None, "stop_sequence": None, "usage": usage}
        return {"type": "message_start", "message": empty}

    def events(self, delta: Delta) -> Iterator[Json]:
        """The events of a delta: blocks begin, grow and end."""
        for part in delta.parts:
            yield from self._part(part)

    def last_events(self, finished: Finished) -> Iterator[Json]:
        """What closes the stream."""
        yield from self._end_block()
        stop = {"stop_reason": _stop_reason(finished), "stop_sequence": finished.stop_text}
        timings = asdict(finished.timings)
        yield {"type": "message_delta", "delta": stop, "usage": _usage(finished.usage), "timings": timings}
        yield {"type": "message_stop"}

    def _message(self, content: list[Json]) -> Json:
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": content}

    def _part(self, part: Part) -> Iterator[Json]:
        match part:
            case Content(text):
                yield from self._write("text", {"type": "text", "text": ""}, "text_delta", "text", text)
            case Reasoning(text):
                block = {"type": "thinking", "thinking": "", "signature": ""}
                yield from self._write("thinking", block, "thinking_delta", "thinking", text)
            case ToolStart(_, call_id, name):
                yield from self._end_block()
                use = {"type": "tool_use", "id": f"toolu_{call_id}", "name": name, "input": {}}
                yield from self._begin("tool_use", use)
                self._blocks[-1]["partial"] = ""
            case ToolArguments(_, text):
                self._blocks[-1]["partial"] += text
                yield self._delta({"type": "input_json_delta", "partial_json": text})
            case ToolEnd():
                yield from self._end_block()

    def _write(self, kind: str, block: Json, delta: str, name: str, text: str) -> Iterator[Json]:
        if self._open != kind:
            yield from self._end_block()
            yield from self._begin(kind, block)
        self._blocks[-1][name] += text
        yield self._delta({"type": delta, name: text})

    def _begin(self, kind: str, block: Json) -> Iterator[Json]:
        self._open = kind
        self._blocks.append(dict(block))
        yield {"type": "content_block_start", "index": len(self._blocks) - 1, "content_block": block}

    def _delta(self, delta: Json) -> Json:
        return {"type": "content_block_delta", "index": len(self._blocks) - 1, "delta": delta}

    def _end_block(self) -> Iterator[Json]:
        if self._open is None:
            return
        if self._open == "thinking":  # clients hand the signature back; there is nothing to sign on one's own machine
            yield self._delta({"type": "signature_delta", "signature": ""})
        self._open = None
        yield {"type": "content_block_stop", "index": len(self._blocks) - 1}


def _complete(block: Json) -> Json:
    if "partial" not in block:
        return block
    partial = block["partial"]
    try:
        value = json.loads(partial or "{}")
    except ValueError:  # an answer that ended in the middle of a call
        value = {}
    shown = {name: block[name] for name in ("type", "id", "name")}
    return shown | {"input": value if isinstance(value, dict) else {}}
