"""The main paths of a chat against the real engine process on the demo model."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chat.page import ChatPage
from app.engine_client import State
from app.main import Program, build
from app.session import demo_model
from app.store import Sampling
from tests.app.conftest import close, settle

PATIENCE_MS = 60_000


@pytest.fixture
def real(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Program]:
    """The program with its own engine, as a first start makes it."""
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    made = build(qapp, tmp_path / "config", tmp_path / "data")
    made.window.show()
    made.begin()
    qtbot.waitUntil(lambda: made.client.state == State.READY, timeout=PATIENCE_MS)
    yield made
    close(made)


def page(program: Program) -> ChatPage:
    found = program.window.page("chat")
    assert isinstance(found, ChatPage)
    return found


def limit(program: Program, tokens: int) -> None:
    page(program)._options_edited("", Sampling(max_tokens=tokens, temperature=0.0))


def say(program: Program, qtbot: QtBot, text: str) -> None:
    edit = page(program).composer.edit
    edit.setFocus()
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def answered(program: Program, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page(program).branch.answering, timeout=PATIENCE_MS)
    settle()


def streaming(program: Program, qtbot: QtBot) -> int:
    """Wait for the first words; the message's id."""
    branch = page(program).branch

    def begun() -> bool:
        key = branch.answering_key
        return key is not None and len(branch.shown(key)[0].text) > 5

    qtbot.waitUntil(begun, timeout=PATIENCE_MS)
    assert branch.answering_key is not None
    return branch.answering_key


def test_a_first_start_chats_on_the_demo_model(real: Program, qtbot: QtBot) -> None:
    """Send, stop, continue, regenerate, edit: else the program does not do what it is for."""
    view = page(real)
    say(real, qtbot, "Tell me a story about a fox.")
    streaming(real, qtbot)
    real.window.context.actions["answer.stop"].trigger()
    answered(real, qtbot)
    stopped = view.branch.path[1]
    assert stopped.status == "stopped" and len(stopped.text) > 5
    before, first = stopped.text, stopped.id
    limit(real, 8)
    real.window.context.actions["answer.continue"].trigger()
    answered(real, qtbot)
    assert view.branch.path[1].text.startswith(before) and len(view.branch.path[1].text) > len(before)
    real.window.context.actions["answer.regenerate"].trigger()
    answered(real, qtbot)
    again = view.branch.path[1]
    assert again.id != first and again.text
    figures = again.extra["figures"]
    assert figures["tokens"] == 8 and figures["tokens_per_s"] > 0 and 0 <= figures["hit_rate"] <= 1
    assert again.extra["finish_reason"] == "length"
    view.edit(view.branch.path[0].id)
    view.composer.set_text("What is two plus three?")
    view.composer.submit()
    answered(real, qtbot)
    assert [message.role for message in view.branch.path] == ["user", "assistant"]
    assert view.branch.version(view.branch.path[0].id) == (2, 2)
    qtbot.waitUntil(lambda: real.client.last_telemetry.get("tokens_decoded", 0) > 0, timeout=PATIENCE_MS)


def test_an_engine_killed_in_mid_answer_is_replaced_and_nothing_is_lost(real: Program, qtbot: QtBot) -> None:
    """Else a crash loses words, or ends the program."""
    view = page(real)
    say(real, qtbot, "Tell me a story about a fox.")
    key = streaming(real, qtbot)
    psutil.Process(real.client.pid).kill()
    qtbot.waitUntil(lambda: real.client.state == State.CRASHED and not view.branch.answering, timeout=PATIENCE_MS)
    broken = view.branch.shown(key)[0]
    assert broken.status == "failed" and len(broken.text) > 5
    stored = real.store.messages(broken.conversation)[-1]
    assert stored.text == broken.text
    notice = real.window.notices()[0]
    assert notice.text
    notice.action.click()
    qtbot.waitUntil(lambda: real.client.state == State.READY, timeout=PATIENCE_MS)
    limit(real, 4)
    real.window.context.actions["answer.continue"].trigger()
    answered(real, qtbot)
    assert view.branch.path[-1].status == "complete"
    assert view.branch.path[-1].text.startswith(broken.text)


def test_the_cache_is_resized_and_the_model_switched_while_it_runs(real: Program, qtbot: QtBot, tmp_path: Path) -> None:
    """Else the slider and the model picker do nothing."""
    with qtbot.waitSignal(real.client.resize_cache(4 << 20).done, timeout=PATIENCE_MS) as resized:
        pass
    assert 0 < resized.args[0]["bytes"] <= 4 << 20
    other = tmp_path / "elsewhere" / "other.gguf"
    other.parent.mkdir()
    shutil.copy(demo_model(), other)
    real.session.use_model(str(other))
    qtbot.waitUntil(lambda: real.client.model == "other" and real.client.state == State.READY, timeout=PATIENCE_MS)
    assert real.window.header.model.text().startswith("other")
    broken = tmp_path / "elsewhere" / "broken.gguf"
    broken.write_bytes(b"no model")
    real.session.use_model(str(broken))
    qtbot.waitUntil(lambda: bool(real.window.notices()), timeout=PATIENCE_MS)
    assert "broken.gguf" in real.window.notices()[0].text


def test_closing_in_mid_load_ends_the_engine_at_once(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    """Else a window that was closed keeps the machine busy."""
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    made = build(qapp, tmp_path / "config", tmp_path / "data")
    made.window.show()
    made.begin()
    qtbot.waitUntil(lambda: made.client.state == State.LOADING, timeout=PATIENCE_MS)
    process = made.client.pid
    began = time.monotonic()
    close(made)
    assert time.monotonic() - began < 15
    assert not psutil.pid_exists(process)
