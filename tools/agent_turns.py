"""Measure what prefix reuse spares: an agent's conversation with a long system prompt and a tool result in each turn.

    agent_turns.py URL KEY [--turns 10] [--system-tokens 2000]

Prints one line per turn: prompt tokens, how many were computed, time to first token and its share of a cold one (the
same prompt's first turn with nothing to reuse). Any server with OpenAI's API will do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

WORDS = "the model reads its experts from the drive when a token needs them and keeps the busiest in memory"
RESULT = "def main(): return 0"
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def stream(url: str, key: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunks of a streamed answer."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    content = json.dumps(body | {"stream": True, "stream_options": {"include_usage": True}}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/chat/completions", content, headers)) as answer:
        for line in answer:
            if line.startswith(b"data: ") and b"[DONE]" not in line:
                yield json.loads(line[6:])


def count(url: str, key: str, text: str) -> int:
    """Tokens of a text."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/engine/tokenize", json.dumps({"text": text}).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        tokens: int = json.load(answer)["tokens"]
    return tokens


def system_prompt(url: str, key: str, tokens: int) -> str:
    """A text of at least `tokens` tokens."""
    text, size = "You are a coding agent.", 0
    while size < tokens:
        text += " " + WORDS
        size = count(url, key, text)
    return text


def ask(url: str, key: str, messages: list[dict[str, Any]], **fields: Any) -> tuple[float, str, dict[str, Any]]:
    """Seconds to the first token, the answer's text and its last chunk."""
    started = time.perf_counter()
    first, text, last = 0.0, "", {}
    body = {"messages": messages, "tools": [TOOL], "temperature": 0, "max_tokens": 12} | fields
    for last in stream(url, key, body):
        piece = last["choices"][0]["delta"].get("content") if last["choices"] else None
        if piece and not first:
            first = time.perf_counter() - started
        text += piece or ""
    return first or time.perf_counter() - started, text, last


def turns(url: str, key: str, number: int, system_tokens: int) -> list[dict[str, Any]]:
    """Have the conversation; one record per turn."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": system_prompt(url, key, system_tokens)}]
    records = []
    for turn in range(number):
        messages.append({"role": "user", "content": f"Step {turn}: read the next file."})
        seconds, text, last = ask(url, key, messages, **({"cache_prompt": False} if turn == 0 else {}))
        records.append({"seconds": seconds, "prompt": last["usage"]["prompt_tokens"], **last["timings"]})
        function = {"name": "read_file", "arguments": '{"path": "a"}'}
        call = {"id": f"call_{turn}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": text, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": RESULT})
    return records


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("key")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--system-tokens", type=int, default=2000)
    arguments = parser.parse_args()
    records = turns(arguments.url, arguments.key, arguments.turns, arguments.system_tokens)
    cold = records[0]["seconds"]
    for at, record in enumerate(records):
        share = record["seconds"] / cold
        print(
            f"turn {at + 1:2}: {record['prompt']:5} prompt tokens, {record['prompt_n']:5} computed, "
            f"first token after {1000 * record['seconds']:7.0f} ms, {share:.3f} of a cold one"
        )
    shares = [record["seconds"] / cold for record in records[1:]]
    print(f"from the second turn on: median {statistics.median(shares):.3f}, worst {max(shares):.3f}")


if __name__ == "__main__":
    main()
