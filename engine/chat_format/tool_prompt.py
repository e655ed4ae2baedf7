"""Tools for models whose template knows nothing of them: described in the system message, written as Hermes does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from engine.chat_format.families import call_text

_INTRODUCTION = """You can call these tools; each line describes one as JSON:
{tools}

To call a tool, answer with its name and arguments, and nothing after it:
<tool_call>
{{"name": "NAME", "arguments": {{"PARAMETER": VALUE}}}}
</tool_call>"""

Message = Mapping[str, Any]


def template_knows_tools(template: str) -> bool:
    """Whether the template has a place for tools."""
    return "tools" in template or "tool_call" in template


def with_tools_described(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages with tools, calls and results as plain text, for a template without a place for them."""
    plain = [_plain(message) for message in messages]
    if not tools:
        return plain
    lines = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    introduction = _INTRODUCTION.format(tools=lines)
    if plain and plain[0]["role"] == "system":
        first = dict(plain[0], content=f"{plain[0]['content']}\n\n{introduction}")
        return [first, *plain[1:]]
    return [{"role": "system", "content": introduction}, *plain]


def _plain(message: Message) -> dict[str, Any]:
    content = message.get("content") or ""
    if message["role"] == "tool":
        return {"role": "user", "content": f"<tool_response>\n{content}\n</tool_response>"}
    calls = [_call_as_text(call["function"]) for call in message.get("tool_calls") or ()]
    return {"role": message["role"], "content": "\n".join(text for text in (content, *calls) if text)}


def _call_as_text(function: Mapping[str, Any]) -> str:
    arguments = function["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return call_text(function["name"], text or "{}")
