"""An answer on the screen."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chat.answer_body import AnswerBody
from app.chat.code_block import CodeBlock
from app.chat.prose import Prose
from app.theme import Theme
from tests.app.chat.test_markdown import SAMPLE
from tests.app.conftest import settle


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme(qapp, "light")
    yield made
    made.deleteLater()
    settle()


def body(theme: Theme, qtbot: QtBot) -> AnswerBody:
    made = AnswerBody(theme)
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


@pytest.mark.parametrize("seed", range(4))
def test_a_streamed_answer_looks_like_a_stored_one(theme: Theme, qtbot: QtBot, seed: int) -> None:
    """Else an answer changes when the chat is opened again."""
    stored, grown = body(theme, qtbot), body(theme, qtbot)
    stored.set_text(SAMPLE)
    sizes, at = random.Random(seed), 0
    while at < len(SAMPLE):
        size = sizes.randint(1, 25)
        grown.append(SAMPLE[at : at + size])
        grown.flush()
        at += size
    grown.finish()
    assert grown.plain_text() == stored.plain_text()
    assert [type(one) for one in grown.parts()] == [type(one) for one in stored.parts()]
    assert grown.heightForWidth(500) == stored.heightForWidth(500)


def test_code_is_coloured_and_copied_without_its_frame(theme: Theme, qtbot: QtBot) -> None:
    """Else code cannot be read, or is pasted with numbers and names around it."""
    made = body(theme, qtbot)
    made.set_text("```python\ndef f():\n    return 'x'\n```")
    block = made.findChild(CodeBlock)
    assert block is not None
    formats = block.text_view.document().firstBlock().layout().formats()
    assert formats[0].format.foreground().color() == theme.color("syn_keyword")
    block.copy_button.click()
    assert QGuiApplication.clipboard().text() == "def f():\n    return 'x'"
    qtbot.waitUntil(lambda: block.copy_button.text() == "Copy", timeout=5000)


def test_code_that_still_arrives_is_coloured_too(theme: Theme, qtbot: QtBot) -> None:
    """Else code flickers from plain to coloured at its end."""
    made = body(theme, qtbot)
    for piece in ("```python\n", "x = 1\n", "def", " f(): pass\n"):
        made.append(piece)
        made.flush()
    block = made.findChild(CodeBlock)
    assert block is not None and block.code() == "x = 1\ndef f(): pass\n"
    line = block.text_view.document().findBlockByNumber(1)
    assert line.layout().formats()[0].format.foreground().color() == theme.color("syn_keyword")
    made.finish()


def test_a_right_to_left_paragraph_is_laid_out_so(theme: Theme, qtbot: QtBot) -> None:
    """Else Arabic begins at the wrong edge."""
    made = body(theme, qtbot)
    made.set_text("مرحبا\n\nhello")
    first = made.findChild(Prose).document().firstBlock()
    assert first.blockFormat().layoutDirection() == Qt.LayoutDirection.RightToLeft
    assert first.next().blockFormat().layoutDirection() == Qt.LayoutDirection.LeftToRight


def test_drawing_a_piece_costs_the_same_late_and_early(theme: Theme, qtbot: QtBot) -> None:
    """Else a long answer makes the window slower and slower."""
    made = body(theme, qtbot)

    def cost(count: int) -> float:
        began = time.process_time()
        for number in range(count):
            made.append(f"word{number} " + ("\n\n" if number % 40 == 39 else ""))
            made.flush()
        return time.process_time() - began

    cost(40)
    early = cost(120)
    made.append("\n\n".join(" ".join(["word"] * 40) for _ in range(400)) + "\n\n")
    made.flush()
    cost(40)
    assert cost(120) < 3 * early + 0.1
    made.finish()
