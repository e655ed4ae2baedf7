"""Clients that leave must take nothing with them: no slot, thread, file or memory, and nobody else's answer."""

from __future__ import annotations

import importlib.util
import time
from types import ModuleType

from tests.engine.server.server_process import ROOT, ServerProcess, wait_until


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("disconnect_storm", ROOT / "tools" / "disconnect_storm.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_storm_of_disconnects_leaves_nothing_behind(server: ServerProcess) -> None:
    storm = tool()
    target = storm.Server(server.url, server.key, server.pid)
    storm.storm(target, 20, 6, seed=2)
    assert target.settle()
    expected, before = target.answer(), target.holds()
    assert storm.storm(target, 60, 6, seed=3) > 10
    assert target.settle(), "an answer that nobody waits for goes on"
    assert target.answer() == expected
    wait_until(lambda: target.holds()["files"] <= before["files"] + 2, "closing the connections", 10)
    after = target.holds()
    assert after["threads"] <= before["threads"] + 1
    assert after["rss_kib"] < before["rss_kib"] + 30 * 1024


def test_leaving_while_the_prompt_is_computed_frees_the_engine(server: ServerProcess) -> None:
    storm = tool()
    target = storm.Server(server.url, server.key, server.pid)
    body = storm.body_of("fox " * 700) | {"max_tokens": 5, "cache_prompt": False}
    for stream in (True, False):
        target.ask(body | {"stream": stream}, 0)
        started = time.monotonic()
        assert target.settle(5)
        assert time.monotonic() - started < 3


def test_one_client_leaving_does_not_end_anothers_answer(server: ServerProcess) -> None:
    storm = tool()
    target = storm.Server(server.url, server.key, server.pid)
    body = {"messages": [{"role": "user", "content": "Tell me a story about a fox."}], "temperature": 0}
    expected = server.chat("Tell me a story about a fox.", max_tokens=60).json()["choices"][0]["message"]["content"]
    with server.http.stream("POST", "/v1/chat/completions", json=body | {"max_tokens": 60, "stream": True}) as answer:
        lines = answer.iter_lines()
        next(lines)
        for _ in range(5):
            target.ask(storm.body_of("Count to nine.") | {"max_tokens": 600, "stream": True}, 1)
        text = "".join(lines)
    assert "[DONE]" in text and expected.split()[-1].strip(".") in text
