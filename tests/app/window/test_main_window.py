"""The frame of the window."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.main import Program
from app.window.places import PLACES


@pytest.mark.parametrize("name", [place.name for place in PLACES])
def test_every_place_opens_from_its_menu_entry(qtbot: QtBot, program: Program, name: str) -> None:
    """Else a person cannot get to a page at all."""
    program.window.show()
    program.window.context.actions[f"view.{name}"].trigger()
    assert program.window.place == name
    assert program.window.page(name).isVisible()
