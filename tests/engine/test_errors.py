"""Errors are shown in a terminal, a log and a window: always one line that can be printed."""

from __future__ import annotations

import pytest

from engine.errors import GannetError, ModelFileError, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ümläut 模型", "plain ümläut 模型"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\udcff", "\\udcff"),
        ("turned \u202e around", "turned \\u202e around"),
        ("\u2028", "\\u2028"),
    ],
)
def test_what_a_terminal_would_act_on_is_made_visible(text: str, shown: str) -> None:
    """A file's name must not be able to colour, break or hide the line that reports it."""
    assert one_line(text) == shown
    assert str(GannetError(text)) == shown


def test_errors_for_users_end_with_code_2() -> None:
    assert (ModelFileError("x").exit_code, ModelFileError("x").message) == (2, "x")
