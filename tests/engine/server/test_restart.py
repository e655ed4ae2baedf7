"""Conversations survive the server: a person who restarts does not wait for the whole prompt again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.server.server_process import ServerProcess, wait_until

LONG = "Tell me a story about a fox who lived in a deep valley. " * 8


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "Zuhause 家"


def start(home: Path, demo_model: Path, *arguments: str) -> ServerProcess:
    return ServerProcess(home, str(demo_model), "--session-idle", "0.05", *arguments).wait_ready()


def cached(server: ServerProcess, text: str = LONG) -> int:
    """How many of the prompt's tokens were not computed again."""
    count: int = server.chat(text, max_tokens=4).json()["usage"]["prompt_tokens_details"]["cached_tokens"]
    return count


def session_files(home: Path) -> list[Path]:
    return sorted((home / "engine" / "sessions").glob("*.session"))


def test_a_kill_in_the_middle_of_an_answer_loses_only_that_answer(home: Path, demo_model: Path) -> None:
    server = start(home, demo_model)
    assert cached(server) == 0
    wait_until(lambda: session_files(home), "saving the conversation")
    body = {"messages": [{"role": "user", "content": "Count to nine hundred."}], "max_tokens": 800, "stream": True}
    with server.http.stream("POST", "/v1/chat/completions", json=body) as answer:
        next(answer.iter_lines())
        server.stop(kill=True)
    server = start(home, demo_model)
    try:
        assert cached(server) > 100
        log = server.http.get("/engine/log?lines=500").json()["lines"]
        assert any("saved conversations can go on" in line for line in log)
    finally:
        server.stop()


def test_a_damaged_session_file_is_put_aside_and_the_answer_comes_all_the_same(home: Path, demo_model: Path) -> None:
    server = start(home, demo_model)
    cached(server)
    before = server.chat(LONG, max_tokens=8).json()["choices"][0]["message"]["content"]
    wait_until(lambda: session_files(home), "saving the conversation")
    server.stop()
    for path in session_files(home):
        content = bytearray(path.read_bytes())
        content[-100] ^= 0xFF
        path.write_bytes(content)
    (home / "engine" / "sessions" / "other.session").write_bytes(b"not a session")
    server = start(home, demo_model)
    try:
        assert cached(server) == 0
        assert server.chat(LONG, max_tokens=8).json()["choices"][0]["message"]["content"] == before
        damaged = {path.name for path in (home / "engine" / "sessions" / "damaged").iterdir()}
        assert "other.session" in damaged and len(damaged) >= 2
        log = server.http.get("/engine/log?lines=500").json()["lines"]
        assert sum("was put aside" in line for line in log) >= 2
    finally:
        server.stop()


def test_several_conversations_keep_their_state_beside_each_other(home: Path, demo_model: Path) -> None:
    server = start(home, demo_model, "--session-disk", "0")
    try:
        other = "What is a mixture of experts? " * 12
        assert cached(server) == 0
        assert cached(server, other) < 10
        assert cached(server) > 100
        assert cached(server, other) > 60
        assert not session_files(home)
    finally:
        server.stop()


def test_nothing_is_reused_where_the_client_does_not_want_it(home: Path, demo_model: Path) -> None:
    server = start(home, demo_model)
    try:
        cached(server)
        usage = server.chat(LONG, cache_prompt=False, max_tokens=2).json()["usage"]
        assert usage["prompt_tokens_details"]["cached_tokens"] == 0
    finally:
        server.stop()
