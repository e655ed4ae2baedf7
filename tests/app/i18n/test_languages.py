"""Languages: German says everything English says, and no text is out of reach of a translation."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.i18n import choose_language, number, tr, trn
from app.i18n.extract import texts
from app.i18n.translator import FOLDER, load
from app.main import build
from tests.app.conftest import close, settle

ALL = texts()
TEXTS = [(area, source) for area, messages in ALL.items() for source in messages]


@pytest.mark.parametrize("area", sorted(path.name for path in (FOLDER / "de").glob("*.ts")))
def test_german_is_complete(area: str) -> None:
    """Else a German window speaks two languages."""
    known = load("de")
    missing = [source for source in ALL[area] if source not in known]
    assert missing == [], f"run python -m app.i18n.extract and translate app/i18n/de/{area}"


def test_translations_keep_the_fields() -> None:
    """Else a figure or a name is missing from a German sentence, or the program stops there."""
    known = load("de")
    for _, source in TEXTS:
        for form in known.get(source, []):
            assert _fields(form) <= _fields(source) and _fields(source) - _fields(form) <= {"n"}, source


def test_menus_have_no_two_entries_with_the_same_letter() -> None:
    """Else a letter of the keyboard opens the wrong entry."""
    from app.actions import ACTIONS, MENUS

    for language in ("en", "de"):
        choose_language(language)
        for menu, _ in MENUS:
            letters = [_mnemonic(tr(spec.text)) for spec in ACTIONS if spec.menu == menu]
            double = {letter for letter in letters if letters.count(letter) > 1}
            assert not double, f"{language}, menu {menu}: {double}"


def test_plurals_follow_the_number() -> None:
    """Else the window says "1 seconds"."""
    assert (trn("{n} file", "{n} files", 1), trn("{n} file", "{n} files", 3)) == ("1 file", "3 files")


def test_figures_have_the_marks_of_the_language() -> None:
    """Else a German reads 1,024 as a little more than one."""
    assert (number(1024), number(4.63, 1)) == ("1,024", "4.6")
    choose_language("de")
    assert (number(1024), number(4.63, 1)) == ("1.024", "4,6")


def test_the_language_files_are_there_without_a_build_step() -> None:
    """Else an installation that was not built with Qt's tools is English only."""
    assert list((FOLDER / "de").glob("*.ts"))
    choose_language("de")
    assert tr("Settings") == "Einstellungen"
    choose_language("xx")
    assert tr("Settings") == "Settings"


def test_every_text_of_the_window_can_be_translated(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    """Else some words stay English in every language."""
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "config" / "preferences.json").write_text('{"version": 1, "language": "pseudo"}', encoding="utf-8")
    program = build(qapp, tmp_path / "config", tmp_path / "data")
    program.window.show()
    settle()
    shown = [widget.text() for widget in program.window.findChildren(QLabel) if widget.text()]
    shown += [widget.text() for widget in program.window.findChildren(QAbstractButton) if widget.text()]
    shown += [action.text() for action in program.window.actions()]
    program.window.resize(640, 480)
    settle()
    too_wide = program.window.minimumSizeHint().width() > 640
    close(program)
    plain = [text for text in shown if "[" not in text and any(letter.isalpha() for letter in text)]
    assert plain == [], "texts without tr()"
    assert not too_wide, "longer words do not fit a small window"


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def _mnemonic(text: str) -> str:
    return text[text.index("&") + 1].lower() if "&" in text else ""
