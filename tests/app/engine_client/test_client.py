"""The engine client against the stand-in: start, load, answers, crashes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.engine_client import EngineClient, State
from tests.app.conftest import STAND_IN, settle


@pytest.fixture
def client(qtbot: QtBot) -> Iterator[EngineClient]:
    made = EngineClient(STAND_IN)
    yield made
    made.stop()
    made.deleteLater()
    settle()


def start(client: EngineClient, qtbot: QtBot) -> None:
    with qtbot.waitSignal(client.state_changed, check_params_cb=lambda state: state == State.EMPTY, timeout=20_000):
        client.start()


def load(client: EngineClient, qtbot: QtBot, model: str = "model.gguf") -> None:
    with qtbot.waitSignal(client.state_changed, check_params_cb=lambda state: state == State.READY, timeout=20_000):
        client.load(model)


def test_a_load_shows_its_progress_and_ends_ready(client: EngineClient, qtbot: QtBot) -> None:
    """Else nobody knows how long a model takes, or that it is there."""
    shares: list[float] = []
    client.progress.connect(lambda share, _: shares.append(share))
    start(client, qtbot)
    load(client, qtbot)
    assert client.model == "model.gguf"
    assert shares and shares == sorted(shares)


def test_a_model_that_is_broken_says_so(client: EngineClient, qtbot: QtBot) -> None:
    """Else a person waits for a model that never comes."""
    start(client, qtbot)
    with qtbot.waitSignal(client.state_changed, check_params_cb=lambda state: state == State.FAILED, timeout=20_000):
        client.load("broken.gguf")
    assert client.error is not None and "broken.gguf" in client.error.message


def test_an_answer_arrives_in_pieces_with_its_figures(client: EngineClient, qtbot: QtBot) -> None:
    """Else an answer stays invisible until its end, and what it cost is lost."""
    start(client, qtbot)
    load(client, qtbot)
    pieces: list[str] = []
    thoughts: list[str] = []
    calls: list[tuple[int, str, str]] = []
    stream = client.chat_stream({"messages": [{"role": "user", "content": "think tool ü"}]})
    stream.text.connect(pieces.append)
    stream.thinking.connect(thoughts.append)
    stream.tool_call.connect(lambda *call: calls.append(call))
    with qtbot.waitSignal(stream.finished, timeout=20_000) as ended:
        pass
    assert "".join(pieces) == "You said: think tool ü" and len(pieces) == 3
    assert thoughts == ["Let me see. "]
    assert calls == [(0, "clock", '{"zone": '), (0, "", '"UTC"}')]
    assert ended.args[0].finish_reason == "stop"
    assert ended.args[0].timings["hit_rate"] == 0.75


def test_stopping_an_answer_reports_it_once(client: EngineClient, qtbot: QtBot) -> None:
    """Else Stop does nothing, or an answer ends twice."""
    start(client, qtbot)
    load(client, qtbot)
    ends: list[Any] = []
    stream = client.chat_stream({"messages": [{"role": "user", "content": "slow long 500"}]})
    stream.finished.connect(ends.append)
    stream.failed.connect(ends.append)
    with qtbot.waitSignal(stream.text, timeout=20_000):
        pass
    stream.stop()
    qtbot.wait(50)
    assert [end.finish_reason for end in ends] == ["cancelled"]


@pytest.mark.parametrize(
    ("words", "told"), [("refuse", "too long"), ("break slow", "broke off"), ("vanish", "broke off")]
)
def test_an_answer_that_fails_says_why(client: EngineClient, qtbot: QtBot, words: str, told: str) -> None:
    """Else an answer just stops and nobody knows why."""
    start(client, qtbot)
    load(client, qtbot)
    stream = client.chat_stream({"messages": [{"role": "user", "content": words}]})
    with qtbot.waitSignal(stream.failed, timeout=20_000) as failed:
        pass
    assert told in failed.args[0].message


def test_a_crash_is_told_with_its_cause_and_log_and_a_restart_works(client: EngineClient, qtbot: QtBot) -> None:
    """Else the window hangs on a dead engine."""
    start(client, qtbot)
    load(client, qtbot)
    with qtbot.waitSignal(client.crashed, timeout=20_000) as crashed:
        client.chat_stream({"messages": [{"role": "user", "content": "crash"}]})
    assert client.state == State.CRASHED
    assert "warming up" in crashed.args[0].log
    assert crashed.args[0].reason
    start(client, qtbot)
    assert client.state == State.EMPTY


@pytest.mark.parametrize(
    ("command", "told"),
    [([*([]), "/nonexistent/engine"], "could not be started"), ([*STAND_IN, "--exit-at-start"], "exit code 3")],
)
def test_an_engine_that_does_not_come_up_is_told(qtbot: QtBot, command: list[str], told: str) -> None:
    """Else the window says "starting" for ever."""
    client = EngineClient(command)
    with qtbot.waitSignal(client.crashed, timeout=20_000) as crashed:
        client.start()
    assert told in crashed.args[0].reason
    client.deleteLater()
    settle()


def test_a_request_to_a_dead_engine_fails_in_words(qtbot: QtBot) -> None:
    """Else a click does nothing at all."""
    client = EngineClient([sys.executable, str(Path(__file__))])
    call = client.get_telemetry()
    with qtbot.waitSignal(call.failed, timeout=20_000) as failed:
        pass
    assert "does not answer" in failed.args[0].message
    client.deleteLater()
    settle()
