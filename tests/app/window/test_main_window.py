"""The frame of the window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.actions import ACTIONS
from app.diagnostics import write_bundle
from app.engine_client import Crash, State
from app.main import Program, build
from app.window.days import heading
from app.window.main_window import MainWindow
from app.window.places import PLACES
from app.window.rates import Figures, figures_between
from app.window.single_instance import SingleInstance
from tests.app.conftest import STAND_IN, close, settle


def chat(program: Program, title: str, *texts: str) -> int:
    number = program.store.new_conversation().id
    program.store.rename(number, title)
    parent = None
    for count, text in enumerate(texts):
        role = "assistant" if count % 2 else "user"
        parent = program.store.add_message(number, parent, role, text).id
    program.window.context.conversations.listed.emit()
    return number


def titles(window: MainWindow) -> list[str]:
    model = window.sidebar.list.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


@pytest.mark.parametrize("name", [place.name for place in PLACES])
def test_every_place_opens_from_its_menu_entry(qtbot: QtBot, program: Program, name: str) -> None:
    """Else a person cannot get to a page at all."""
    program.window.show()
    program.window.context.actions[f"view.{name}"].trigger()
    assert program.window.place == name
    assert program.window.page(name).isVisible()


def test_the_window_is_up_before_the_engine(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    """Else a person stares at nothing while a model loads."""
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    made = build(qapp, tmp_path / "config", tmp_path / "data", STAND_IN)
    made.window.show()
    qtbot.waitExposed(made.window)
    assert made.client.state == State.STOPPED
    made.begin()
    assert made.client.state == State.STARTING
    qtbot.waitUntil(lambda: made.client.state == State.READY, timeout=20_000)
    close(made)


def test_the_window_is_drawn_within_two_seconds(tmp_path: Path) -> None:
    """From the start of the process to the first picture, in processor time: 0.7 s on a machine with a load of 10."""
    script = (
        "import sys, time\nfrom app import main\nfrom app.window.file_opening import Application\n"
        "application = Application(sys.argv)\n"
        "program = main.build(application, main.config_folder(), main.data_folder())\n"
        "program.window.show()\napplication.processEvents()\nprogram.window.grab()\n"
        "print(time.process_time())\nprogram.window.close()\nprogram.close()"
    )
    environment = os.environ | {"GANNET_HOME": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert float(found.stdout) < 2.0


def test_starting_the_program_imports_no_native_code_and_no_plots() -> None:
    """Else the first window takes seconds, and can be taken down by the engine's libraries."""
    script = (
        "import sys, app.main; print([m for m in ('llama_cpp', 'engine', 'numpy', 'pyqtgraph') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_no_two_actions_share_a_shortcut() -> None:
    """Else one of the two never works."""
    keys = [QKeySequence(spec.shortcut).toString() for spec in ACTIONS]
    assert all(keys) and len(set(keys)) == len(keys)


def test_every_action_is_connected(program: Program) -> None:
    """Else a menu entry does nothing."""
    dead = [spec.name for spec in ACTIONS if not program.window.context.actions.connected(spec.name)]
    assert [name for name in dead if name != "model.tune"] == []


def test_everything_one_can_click_has_a_name(program: Program, qtbot: QtBot) -> None:
    """Else a screen reader says "button"."""
    program.window.show()
    number = chat(program, "Title", "question", "answer\n\n```py\nx\n```")
    program.window.context.conversations.open(number)
    settle()
    controls: list[QWidget] = [*program.window.findChildren(QAbstractButton), *program.window.findChildren(QLineEdit)]
    nameless = [
        f"{type(one).__name__} in {type(one.parent()).__name__}"
        for one in controls
        if one.isVisible() and not isinstance(one.parent(), QLineEdit)
        if not (one.accessibleName() or getattr(one, "text", str)())
    ]
    assert nameless == []


def test_deleting_a_chat_can_be_undone(program: Program, qtbot: QtBot) -> None:
    """Else a slip destroys a chat."""
    program.window.show()
    number = chat(program, "Precious", "words")
    program.window.context.conversations.open(number)
    program.window.context.actions["chat.delete"].trigger()
    assert "Precious" not in titles(program.window)
    toast = program.window._toast
    assert toast.isVisible() and "Precious" in toast.label.text()
    toast.button.click()
    assert "Precious" in titles(program.window)
    assert program.window.context.conversations.current is not None


def test_chats_are_found_renamed_and_pinned(program: Program, qtbot: QtBot) -> None:
    """Else old chats are lost among new ones."""
    program.window.show()
    first = chat(program, "Alpha", "about gannets", "they dive")
    chat(program, "Beta", "about trees")
    program.window.sidebar.search.setText("gannets")
    qtbot.waitUntil(lambda: titles(program.window) == ["Found", "Alpha"], timeout=5000)
    program.window.sidebar.search.clear()
    qtbot.waitUntil(lambda: len(titles(program.window)) == 3, timeout=5000)
    program.window.context.conversations.open(first)
    program.window.context.actions["chat.pin"].trigger()
    assert titles(program.window)[:2] == ["Pinned", "Alpha"]
    program.window.context.actions["chat.rename"].trigger()
    editor = program.window.sidebar.list.findChild(QLineEdit)
    editor.setText("Gamma")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    settle()
    assert "Gamma" in titles(program.window) and "Alpha" not in titles(program.window)


def test_exports_hold_the_whole_chat(program: Program, tmp_path: Path) -> None:
    """Else what was saved elsewhere is not what was said."""
    number = chat(program, "Export", "question ü", "**answer**")
    program.store.add_message(number, 1, "assistant", "other version")
    program.store.set_active(number, 2)
    program.window.context.conversations.open(number)
    program.window.chat_actions.export_to(tmp_path / "a.md")
    text = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert "# Export" in text and "question ü" in text and "**answer**" in text and "other version" not in text
    program.window.chat_actions.export_to(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert [one["text"] for one in content["messages"]] == ["question ü", "**answer**", "other version"]


def test_the_diagnostics_bundle_holds_no_word_of_a_chat(program: Program, tmp_path: Path) -> None:
    """Else a bug report gives away private conversations."""
    program.window.context.conversations.open(chat(program, "SECRETTITLE", "SECRETWORD", "SECRETANSWER"))
    program.window.context.preferences["server"] = {"key": "SECRETKEY"}
    program.session.last_crash = Crash("it fell", "log line")
    write_bundle(tmp_path / "d.zip", program.window.context)
    with zipfile.ZipFile(tmp_path / "d.zip") as bundle:
        everything = b"".join(bundle.read(name) for name in bundle.namelist())
    assert b"SECRET" not in everything
    assert b"it fell" in everything and str(Path.home()).encode() not in everything


def test_a_second_start_raises_the_first_window(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    """Else two windows write the same files."""
    first = SingleInstance(tmp_path)
    assert first.claim()
    script = (
        "import sys\nfrom pathlib import Path\nfrom PySide6.QtCore import QCoreApplication\n"
        "from app.window.single_instance import SingleInstance\n"
        "application = QCoreApplication([])\nprint(SingleInstance(Path(sys.argv[1])).claim(), flush=True)"
    )
    with qtbot.waitSignal(first.raise_asked, timeout=20_000):
        second = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert second.communicate(timeout=20)[0].strip() == "False"
    first.release()
    again = SingleInstance(tmp_path)
    assert again.claim()
    again.release()


def test_a_lock_left_by_a_killed_program_does_not_keep_the_next_out(qapp: QApplication, tmp_path: Path) -> None:
    """Else after a crash the program never starts again."""
    script = (
        "import sys, os\nfrom pathlib import Path\nfrom PySide6.QtCore import QCoreApplication\n"
        "from app.window.single_instance import SingleInstance\n"
        "application = QCoreApplication([])\none = SingleInstance(Path(sys.argv[1]))\none.claim()\nos._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    next_one = SingleInstance(tmp_path)
    assert next_one.claim()
    next_one.release()


def test_size_and_place_come_back_at_the_next_start(qapp: QApplication, tmp_path: Path) -> None:
    """Else the window opens somewhere else every time."""
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    first = build(qapp, tmp_path / "config", tmp_path / "data")
    first.window.show()
    first.window.setGeometry(30, 40, 700, 500)
    settle()
    close(first)
    again = build(qapp, tmp_path / "config", tmp_path / "data")
    assert again.window.geometry().getRect() == (30, 40, 700, 500)
    close(again)


def test_a_wide_window_shows_what_only_a_narrow_one_needs_nowhere(program: Program, qtbot: QtBot) -> None:
    """Else the first start has two ways to search, and a button for the place one is in."""
    program.window.show()
    settle()
    sidebar = program.window.sidebar
    assert not sidebar.narrow and sidebar.search.isVisible() and sidebar.list.isVisible()
    assert not sidebar._find.isVisible() and not sidebar._buttons["chat"].isVisible()


def test_a_small_window_shows_icons_and_can_still_do_everything(program: Program, qtbot: QtBot) -> None:
    """Else the program is useless on a small screen."""
    program.window.show()
    program.window.resize(640, 480)
    settle()
    assert program.window.sidebar.narrow and program.window.width() == 640
    program.window.context.actions["chat.search"].trigger()
    assert not program.window.sidebar.narrow and program.window.sidebar.search.isVisible()
    program.window.context.conversations.open(chat(program, "A", "b"))
    assert program.window.sidebar.narrow


def test_broken_files_are_said_in_the_window(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    """Else a person wonders where the settings and chats went."""
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "config" / "preferences.json").write_text("{", encoding="utf-8")
    (tmp_path / "data" / "conversations.sqlite").write_bytes(b"not a database at all, just words" * 100)
    made = build(qapp, tmp_path / "config", tmp_path / "data", STAND_IN)
    made.window.show()
    made.begin()
    said = " ".join(notice.text for notice in made.window.notices())
    assert "preferences.json.broken" in said and "conversations.sqlite.broken" in said
    close(made)


@pytest.mark.parametrize(
    ("days", "expected"),
    [(0, "Today"), (1, "Yesterday"), (3, "Last 7 days"), (20, "Last 30 days"), (100, "August 2026"), (-1, "Today")],
)
def test_chats_are_listed_by_day(days: int, expected: str) -> None:
    """Else a chat of last week is looked for in vain."""
    now = datetime(2026, 11, 29, 10, 0)
    assert heading((now - timedelta(days=days)).timestamp(), False, now) == expected


def test_figures_are_those_of_the_interval() -> None:
    """Else the panel shows averages since the start, or nonsense after a reload."""
    before = {"tokens_decoded": 10, "decode_seconds": 2.0, "lookups": 100, "hits": 50, "stall_seconds": 1.0}
    now = {"tokens_decoded": 20, "decode_seconds": 4.0, "lookups": 200, "hits": 140, "stall_seconds": 1.5}
    now |= {"bytes_read": 4e6, "process_rss_bytes": 1, "memory_available_bytes": 3}
    assert figures_between(before, now, 2.0) == Figures(5.0, 0.9, 50.0, 0.25, 2e6)
    assert figures_between({}, now, 2.0).tokens_per_s is None
    assert figures_between(now, before, 2.0).tokens_per_s is None
