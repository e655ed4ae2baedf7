"""Widgets in lines that wrap: in the middle of their line, and hidden ones nowhere."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.page_parts.flow import Flow


def boxes(host: QWidget, *sizes: tuple[int, int]) -> list[QWidget]:
    flow = Flow(8)
    host.setLayout(flow)
    made = []
    for width, height in sizes:
        one = QWidget(host)
        one.setFixedSize(width, height)
        flow.addWidget(one)
        made.append(one)
    return made


def test_lines_wrap_and_hidden_widgets_take_no_room(qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    tall, hidden, low, below = boxes(host, (40, 30), (40, 30), (40, 10), (60, 20))
    hidden.hide()
    host.resize(100, 100)
    host.show()
    assert (tall.x(), tall.y()) == (0, 0) and (low.x(), low.y()) == (48, 10), "not in the middle of its line"
    assert (below.x(), below.y()) == (0, 34)
    layout = host.layout()
    assert layout is not None and layout.heightForWidth(100) == 54 and layout.heightForWidth(400) == 30
    hidden.show()
    low.hide()
    qtbot.waitUntil(lambda: hidden.x() == 48)


def test_nothing_to_show_needs_no_height(qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    (one,) = boxes(host, (40, 30))
    one.hide()
    layout = host.layout()
    assert layout is not None and layout.heightForWidth(100) == 0
