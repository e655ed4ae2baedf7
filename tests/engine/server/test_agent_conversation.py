"""An agent's long conversation: from the second turn on it must not wait for its system prompt again."""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.engine.server.server_process import ROOT, ServerProcess, wait_until


@pytest.fixture(scope="module")
def long_context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with a tiny model whose context is long."""
    folder = tmp_path_factory.mktemp("long")
    model = folder / "tiny.gguf"
    command = [sys.executable, str(ROOT / "tools" / "make_moe.py"), "--preset", "tiny", "--layers", "2", str(model)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    server = ServerProcess(folder, str(model), "--context", "8192", "--session-disk", "0")
    try:
        yield server.wait_ready()
    finally:
        server.stop()


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agent_turns", Path(ROOT / "tools" / "agent_turns.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ten_turns_with_tool_results(long_context: ServerProcess) -> None:
    records = tool().turns(long_context.url, long_context.key, 10, 2000)
    cold = records[0]
    assert cold["prompt_n"] == cold["prompt"] > 2000
    assert all(record["prompt_n"] < 0.1 * cold["prompt"] for record in records[1:])
    assert statistics.median(record["seconds"] for record in records[1:]) <= 0.2 * cold["seconds"]


def ask(server: ServerProcess, words: str, **fields: Any) -> dict[str, Any]:
    """A request body whose answer never ends by itself and is always the same."""
    messages = [{"role": "user", "content": words}]
    return {"messages": messages, "temperature": 0, "logit_bias": {"2": -100}, "cache_prompt": False} | fields


def text(server: ServerProcess, words: str) -> str:
    answer = server.http.post("/v1/chat/completions", json=ask(server, words, max_tokens=40))
    content: str = answer.json()["choices"][0]["message"]["content"]
    return content


def test_two_clients_both_progress_and_get_their_own_answers(long_context: ServerProcess) -> None:
    """A second person does not wait for the first one's long answer, and neither gets a word of the other's."""
    first, second = text(long_context, "first question"), text(long_context, "second matter")
    seen: list[str] = []
    body = ask(long_context, "first question", stream=True, max_tokens=7000)
    with long_context.http.stream("POST", "/v1/chat/completions", json=body) as long:
        reader = threading.Thread(target=lambda: seen.extend(long.iter_lines()))
        reader.start()
        wait_until(lambda: seen, "the first client's answer")
        for _ in range(2):
            before = len(seen)
            assert text(long_context, "second matter") == second
            wait_until(lambda before=before: len(seen) > before, "progress of the first client")
        assert "data: [DONE]" not in seen, "the second client waited until the first was done"
        long_context.http.post("/engine/unload")
        reader.join(20)
    chunks = [json.loads(line[6:]) for line in seen if line.startswith("data: {")]
    assert "error" in chunks[-1]
    content = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks if c.get("choices"))
    assert content.startswith(first) and len(content) > 3 * len(first)
