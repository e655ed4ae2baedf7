"""Chatting, from the keyboard to the database, against the stand-in engine."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from pytestqt.qtbot import QtBot

from app.chat.page import ChatPage
from app.engine_client import State
from app.main import Program
from app.store import Message, Sampling
from tests.app.conftest import settle


def page(program: Program) -> ChatPage:
    found = program.window.page("chat")
    assert isinstance(found, ChatPage)
    return found


def say(program: Program, qtbot: QtBot, text: str, *, wait: bool = True) -> None:
    """Type a message and press Enter; wait for the end of the answer."""
    edit = page(program).composer.edit
    edit.setFocus()
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    if wait:
        answered(program, qtbot)


def answered(program: Program, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page(program).branch.answering, timeout=20_000)
    settle()


def path(program: Program) -> list[Message]:
    return page(program).branch.path


def texts(program: Program) -> list[str]:
    return [message.text for message in path(program)]


def test_a_message_is_answered_stored_and_measured(live: Program, qtbot: QtBot) -> None:
    """Else the program does nothing at all."""
    say(live, qtbot, "hello")
    assert texts(live) == ["hello", "You said: hello"]
    answer = path(live)[1]
    assert answer.extra["figures"]["tokens_per_s"] == 5.0
    assert answer.extra["figures"]["hit_rate"] == 0.75
    current = live.window.context.conversations.current
    assert current is not None and current.title == "hello"
    stored = live.store.messages(current.id)
    assert [message.text for message in stored] == ["hello", "You said: hello"]
    assert [message.status for message in stored] == ["complete", "complete"]


def test_the_answer_is_on_the_screen(live: Program, qtbot: QtBot) -> None:
    """Else it is only in the database."""
    say(live, qtbot, "**bold** words")
    widget = page(live).messages.widget(path(live)[1].id)
    assert widget is not None
    assert "You said: bold words" in widget.body.plain_text()


def test_stop_keeps_what_was_said_and_continue_goes_on(live: Program, qtbot: QtBot) -> None:
    """Else a stopped answer is lost, or has to be begun again."""
    say(live, qtbot, "slow long 400", wait=False)
    qtbot.waitUntil(lambda: "word3" in live_text(live), timeout=20_000)
    live.window.context.actions["answer.stop"].trigger()
    answered(live, qtbot)
    stopped = path(live)[1]
    assert stopped.status == "stopped" and stopped.text.startswith("word0 word1")
    before = stopped.text
    live.window.context.actions["answer.continue"].trigger()
    answered(live, qtbot)
    assert path(live)[1].text == before + "and on."
    assert path(live)[1].status == "complete"
    widget = page(live).messages.widget(stopped.id)
    assert widget is not None and widget.body.plain_text().endswith("and on.")


def live_text(program: Program) -> str:
    key = page(program).branch.answering_key
    return page(program).branch.shown(key)[0].text if key is not None else ""


def test_regenerate_makes_a_version_one_can_switch(live: Program, qtbot: QtBot) -> None:
    """Else trying again loses the first answer."""
    say(live, qtbot, "hello")
    first = path(live)[1].id
    live.window.context.actions["answer.regenerate"].trigger()
    answered(live, qtbot)
    second = path(live)[1].id
    assert second != first
    assert page(live).branch.version(second) == (2, 2)
    page(live).branch.switch(second, -1)
    assert path(live)[1].id == first
    current = live.window.context.conversations.current
    assert current is not None
    live.window.context.conversations.open(current.id)
    assert path(live)[1].id == first, "the version in front is forgotten"


def test_editing_a_message_makes_a_branch_and_keeps_the_old_one(live: Program, qtbot: QtBot) -> None:
    """Else correcting a question destroys what followed it."""
    say(live, qtbot, "first")
    say(live, qtbot, "second")
    question = path(live)[0].id
    page(live).edit(question)
    assert page(live).composer.text() == "first"
    page(live).composer.set_text("changed")
    page(live).composer.submit()
    answered(live, qtbot)
    assert texts(live) == ["changed", "You said: changed"]
    page(live).branch.switch(path(live)[0].id, -1)
    assert texts(live) == ["first", "You said: first", "second", "You said: second"]


def test_thinking_is_folded_and_tool_calls_are_shown(live: Program, qtbot: QtBot) -> None:
    """Else thinking buries the answer, or a tool call is invisible."""
    say(live, qtbot, "think tool")
    message = path(live)[1]
    assert message.thinking == "Let me see. "
    assert message.extra["tool_calls"] == [{"name": "clock", "arguments": '{"zone": "UTC"}'}]
    widget = page(live).messages.widget(message.id)
    assert widget is not None and widget.thinking is not None
    assert not widget.thinking.open
    live.window.context.actions["answer.thinking"].trigger()
    assert widget.thinking.open and widget.thinking.text() == "Let me see. "
    assert "clock" in widget.tools[0].button.text()


def test_a_crash_in_mid_answer_keeps_the_words_and_offers_a_restart(live: Program, qtbot: QtBot) -> None:
    """Else a crash loses what was said, or leaves a person with a dead window."""
    say(live, qtbot, "slow crash", wait=False)
    qtbot.waitUntil(lambda: live.client.state == State.CRASHED and not page(live).branch.answering, timeout=20_000)
    broken = path(live)[1]
    assert broken.text == "You said: " and broken.status == "failed"
    notice = live.window.notices()[0]
    assert "Details" in [button.text() for button in notice.findChildren(type(notice.action))]
    notice.action.click()
    qtbot.waitUntil(lambda: live.client.state == State.READY, timeout=20_000)
    settle()
    assert live.window.notices() == []
    say(live, qtbot, "again")
    assert texts(live)[-1] == "You said: again"


def test_a_message_sent_while_the_model_loads_is_answered_then(live: Program, qtbot: QtBot) -> None:
    """Else an impatient person's first message is lost."""
    live.session.use_model("slow.gguf")
    qtbot.waitUntil(lambda: live.client.state == State.LOADING, timeout=20_000)
    say(live, qtbot, "early", wait=False)
    assert page(live).branch.waiting and texts(live) == ["early"]
    answered(live, qtbot)
    assert texts(live) == ["early", "You said: early"]


def test_the_answer_goes_on_while_another_chat_is_in_front(live: Program, qtbot: QtBot) -> None:
    """Else looking something up in another chat cuts the answer off."""
    say(live, qtbot, "slow long 60", wait=False)
    qtbot.waitUntil(lambda: "word3" in live_text(live), timeout=20_000)
    current = live.window.context.conversations.current
    assert current is not None
    live.window.context.actions["chat.new"].trigger()
    assert path(live) == []
    live.window.context.conversations.open(current.id)
    widget = page(live).messages.widget(path(live)[1].id)
    assert widget is not None and "word3" in widget.body.plain_text()
    answered(live, qtbot)
    assert path(live)[1].text.endswith("word59 ")
    assert widget.body.plain_text().endswith("word59")


def test_shift_enter_breaks_the_line_and_an_input_methods_enter_sends_nothing(live: Program, qtbot: QtBot) -> None:
    """Else people who write Japanese send half a word, and nobody can write two lines."""
    edit = page(live).composer.edit
    edit.setFocus()
    qtbot.keyClicks(edit, "one")
    qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(edit, "two")
    composing = QInputMethodEvent("にほ", [])
    edit.inputMethodEvent(composing)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert texts(live) == []
    done = QInputMethodEvent("", [])
    done.setCommitString("日本")
    edit.inputMethodEvent(done)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    answered(live, qtbot)
    assert texts(live)[0].startswith("one\ntwo") and "日本" in texts(live)[0]


def test_a_chat_that_does_not_fit_offers_a_choice(live: Program, qtbot: QtBot) -> None:
    """Else the engine refuses, or silently forgets the beginning."""
    say(live, qtbot, "long 30")
    view = page(live)
    view.count.limit = view.count.history = 40
    view.composer.set_text("more")
    view.composer.submit()
    assert view.overflow.isVisible() and view.composer.text() == "more"
    view.overflow.new_asked.emit()
    assert texts(live) == [] and view.composer.text() == "more"


def test_leaving_out_the_oldest_sends_less_and_keeps_it_on_the_screen(live: Program, qtbot: QtBot) -> None:
    """Else a long chat ends, or its beginning disappears from the screen."""
    for words in ("alpha", "beta", "gamma"):
        say(live, qtbot, words)
    view = page(live)
    view.count.limit, view.count.history = 40, 39
    view.composer.set_text("delta")
    view.composer.submit()
    view.overflow.drop_asked.emit()
    answered(live, qtbot)
    sent = [one["content"] for one in view.branch.request_messages()]
    assert "alpha" not in sent and "delta" in sent
    assert texts(live)[0] == "alpha"


def test_a_larger_context_loads_the_model_again_and_sends(live: Program, qtbot: QtBot) -> None:
    """Else the button does nothing."""
    say(live, qtbot, "long 30")
    view = page(live)
    view.count.limit, view.count.history = 4096, 4090
    view.composer.set_text("more")
    view.composer.submit()
    view.overflow.larger_asked.emit()
    answered(live, qtbot)
    assert texts(live)[-1] == "You said: more"
    qtbot.waitUntil(lambda: view.count.limit == 8192, timeout=20_000)


def test_tokens_are_counted_against_the_context_while_typing(live: Program, qtbot: QtBot) -> None:
    """Else a person learns that the context is full when it is too late."""
    say(live, qtbot, "hello")
    view = page(live)
    qtbot.waitUntil(lambda: view.count.history == 4, timeout=20_000)
    qtbot.keyClicks(view.composer.edit, "three more words")
    qtbot.waitUntil(lambda: view.count.draft == 3, timeout=20_000)
    assert "/ 4,096" in view.composer.counter.text()


def test_text_files_go_with_the_message(live: Program, qtbot: QtBot, tmp_path: Path) -> None:
    """Else the model never sees the file."""
    good, bad = tmp_path / "notes.txt", tmp_path / "picture.png"
    good.write_text("inside ü", encoding="utf-8")
    bad.write_bytes(b"\x89PNG\0\0")
    page(live).attach([good, bad])
    assert [one.name for one in page(live).composer.attachments] == ["notes.txt"]
    say(live, qtbot, "read it")
    assert "inside ü" in page(live).branch.request_messages()[0]["content"]
    assert path(live)[0].text == "read it"


def test_system_prompt_and_sampling_belong_to_the_chat(live: Program, qtbot: QtBot) -> None:
    """Else settings made for one chat are lost or leak into another."""
    view = page(live)
    live.window.context.actions["chat.options"].trigger()
    view.options.system.setPlainText("Be brief.")
    view.options.fields["temperature"].setValue(0.0)
    say(live, qtbot, "hello")
    current = live.window.context.conversations.current
    assert current is not None
    assert current.system == "Be brief." and current.sampling == Sampling(temperature=0.0)
    assert view.branch.request_messages()[0] == {"role": "system", "content": "Be brief."}
    live.window.context.actions["chat.new"].trigger()
    assert view.options.system.toPlainText() == "" and view.options.sampling() == Sampling()
    live.window.context.conversations.open(current.id)
    assert view.options.sampling() == Sampling(temperature=0.0)


def test_copying_an_answer_gives_its_markdown(live: Program, qtbot: QtBot) -> None:
    """Else what is pasted has lost its lists and code."""
    say(live, qtbot, "**x**")
    live.window.context.actions["answer.copy"].trigger()
    assert QGuiApplication.clipboard().text() == "You said: **x**"


def test_escape_in_an_edit_gives_the_message_box_back(live: Program, qtbot: QtBot) -> None:
    """Else one is stuck in an edit."""
    say(live, qtbot, "first")
    live.window.context.actions["edit.last"].trigger()
    assert page(live).composer.text() == "first"
    qtbot.keyClick(page(live).composer.edit, Qt.Key.Key_Escape)
    assert page(live).composer.text() == ""
    say(live, qtbot, "second")
    assert texts(live)[2] == "second"


@pytest.mark.parametrize("mode", ["light", "dark", "contrast"])
def test_another_theme_redraws_what_is_shown(live: Program, qtbot: QtBot, mode: str) -> None:
    """Else dark text stays on a dark page."""
    say(live, qtbot, "hello")
    live.window.context.preferences["theme"] = mode
    settle()
    widget = page(live).messages.widget(path(live)[1].id)
    assert widget is not None
    assert widget.body.text_color() == live.theme.color("text")


def test_a_prompt_the_engine_refuses_as_too_long_offers_the_choice(live: Program, qtbot: QtBot) -> None:
    """Else an answer fails and a person does not know what to do."""
    say(live, qtbot, "refuse")
    view = page(live)
    assert path(live)[1].status == "failed" and "too long" in path(live)[1].extra["problem"]
    assert view.overflow.isVisible()
    view.overflow.drop_asked.emit()
    answered(live, qtbot)
    assert view.branch.version(path(live)[1].id) == (2, 2)


def test_a_full_disk_is_said_and_the_words_stay(live: Program, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what a person wrote is gone."""

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(live.store, "add_message", full)
    say(live, qtbot, "precious", wait=False)
    assert page(live).composer.text() == "precious"
    assert "disk is full" in live.window.notices()[0].text
    monkeypatch.undo()
    monkeypatch.setattr(live.store, "finish_message", full)
    qtbot.keyClick(page(live).composer.edit, Qt.Key.Key_Return)
    answered(live, qtbot)
    assert texts(live) == ["precious", "You said: precious"]


def test_a_broken_record_is_left_out_and_said(live: Program, qtbot: QtBot) -> None:
    """Else one bad record makes a chat unreadable, or disappears unnoticed."""
    say(live, qtbot, "one")
    say(live, qtbot, "two")
    current = live.window.context.conversations.current
    assert current is not None
    live.window.context.conversations.begin()
    live.store._db.execute("UPDATE message SET extra='{' WHERE id=2")
    live.window.context.conversations.open(current.id)
    assert texts(live) == ["one", "two", "You said: two"]
    assert "message 2" in live.window.notices()[0].text
