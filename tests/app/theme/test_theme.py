"""Colours, icons and the style sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

import app
from app.theme import Theme, icons
from app.theme.stylesheet import stylesheet
from app.theme.tokens import READABLE_PAIRS, TOKENS, Mode, contrast
from tests.app.conftest import settle

MODES: tuple[Mode, ...] = ("light", "dark", "contrast")
ROOT = Path(app.__file__).parent


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme(qapp, "light")
    yield made
    made.deleteLater()
    settle()


@pytest.mark.parametrize("mode", MODES)
def test_every_text_can_be_read_on_its_surface(mode: Mode) -> None:
    """Else people with weaker eyes, or in the sun, cannot read it."""
    faint = [
        (front, back, round(contrast(TOKENS[front].in_mode(mode), TOKENS[back].in_mode(mode)), 2))
        for front, back in READABLE_PAIRS
        if contrast(TOKENS[front].in_mode(mode), TOKENS[back].in_mode(mode)) < 4.5
    ]
    assert faint == []


def test_contrast_is_that_of_wcag() -> None:
    """Else the check above checks nothing."""
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_colours_are_declared_in_one_place() -> None:
    """Else a colour stays light in the dark theme."""
    strays = [
        (path.relative_to(ROOT).as_posix(), found)
        for path in ROOT.rglob("*.py")
        if path.name != "tokens.py"
        for found in re.findall(r"[\"'](#[0-9A-Fa-f]{6})[\"']", path.read_text(encoding="utf-8"))
    ]
    assert strays == []


@pytest.mark.parametrize("mode", MODES)
def test_the_style_sheet_names_only_declared_colours(mode: Mode) -> None:
    """Else the program does not start in that theme."""
    assert "$" not in stylesheet(mode)


def test_every_icon_that_is_asked_for_is_there(theme: Theme) -> None:
    """Else a page cannot be opened."""
    pattern = re.compile(r"(?:icon\(|tint\([^,]+, )[\"']([a-z_]+)[\"']|icon=[\"']([a-z_]+)[\"']")
    asked = {
        one or other for path in ROOT.rglob("*.py") for one, other in pattern.findall(path.read_text(encoding="utf-8"))
    }
    assert asked - set(icons.names()) == set()
    for name in icons.names():
        assert not theme.icon(name).pixmap(16, 16).isNull()


def test_icons_take_the_colour_of_the_theme(theme: Theme, qtbot: QtBot) -> None:
    """Else dark icons are invisible on a dark page."""
    label = QLabel()
    qtbot.addWidget(label)
    theme.tint(label, "stop", "text", 32)
    before = _strongest(label)
    theme.choose("dark")
    assert _strongest(label).lightness() > before.lightness() + 100


def test_the_application_icon_is_readable_at_sixteen_pixels(qapp: QApplication) -> None:
    """Else the window cannot be found in a task bar."""
    image = icons.application_icon().pixmap(16, 16).toImage()
    bird = [QColor(image.pixelColor(x, y)) for x in range(16) for y in range(16)]
    light = sum(1 for colour in bird if colour.alpha() > 200 and colour.lightness() > 180)
    deep = sum(1 for colour in bird if colour.alpha() > 200 and colour.lightness() < 90)
    assert light > 25 and deep > 60


def _strongest(label: QLabel) -> QColor:
    image = label.pixmap().toImage()
    colours = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    return max(colours, key=lambda colour: colour.alpha())


def test_everything_grows_with_the_font(theme: Theme, qtbot: QtBot) -> None:
    """Else larger type leaves headings, icons and boxes behind, or cut."""
    label = QLabel()
    qtbot.addWidget(label)
    theme.tint(label, "check", size=20)
    small = (theme.scaled(100), label.pixmap().deviceIndependentSize().width())
    points = theme._system_font.pointSizeF()
    theme.set_font_points(2 * points)
    assert theme.scaled(100) == pytest.approx(2 * small[0], rel=0.1)
    assert label.pixmap().deviceIndependentSize().width() == pytest.approx(2 * small[1], rel=0.1)
    assert "font-size: 36px" in stylesheet("light", 2.0)
    theme.set_font_points(0.0)
    assert theme.scaled(100) == 100
