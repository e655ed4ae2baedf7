"""A double click on a .gguf file ends in a chat with it, whether the program runs already or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.engine_client import State
from app.main import Program, build
from app.window.file_opening import files_of, open_file
from app.window.single_instance import SingleInstance
from tests.app.conftest import STAND_IN, close


def test_a_file_named_at_the_start_is_loaded_and_the_last_model_is_not(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path
) -> None:
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    model = tmp_path / "Öl 模型.gguf"
    model.write_bytes(b"GGUF")
    made = build(qapp, tmp_path / "config", tmp_path / "data", STAND_IN)
    made.window.show()
    loaded: list[str] = []
    made.client.state_changed.connect(lambda state: loaded.append(made.client.model) if state == State.READY else None)
    made.begin([str(model)])
    qtbot.waitUntil(lambda: made.client.state == State.READY, timeout=20_000)
    assert made.window.page("chat").composer.edit is made.window.focusWidget(), "one cannot type at once"  # type: ignore[attr-defined]
    assert loaded == [str(model)] and made.session.wanted == str(model) and made.window.place == "chat"
    close(made)


def test_it_is_loaded_even_where_nothing_is_loaded_at_start(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    model = tmp_path / "m.gguf"
    model.write_bytes(b"GGUF")
    made = build(qapp, tmp_path / "config", tmp_path / "data", STAND_IN)
    made.session.preferences["start_engine"] = False
    made.begin([str(model)])
    qtbot.waitUntil(lambda: made.client.state == State.READY, timeout=20_000)
    assert made.client.model == str(model)
    close(made)


def test_a_second_start_hands_its_file_to_the_first(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    """Its path is absolute by then: the second start may have been made in another folder."""
    first = SingleInstance(tmp_path)
    assert first.claim()
    script = (
        "import sys\nfrom pathlib import Path\nfrom PySide6.QtCore import QCoreApplication\n"
        "from app.window.file_opening import files_of\nfrom app.window.single_instance import SingleInstance\n"
        "application = QCoreApplication([])\n"
        "print(SingleInstance(Path(sys.argv[1])).claim(files_of(sys.argv[2:])), flush=True)"
    )
    root = str(Path(__file__).resolve().parents[3])
    with qtbot.waitSignals([first.raise_asked, first.open_asked], timeout=20_000):
        second = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), "größe 模型.gguf"],
            stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": root},
        )  # fmt: skip
        heard: list[str] = []
        first.open_asked.connect(heard.append)
    assert second.communicate(timeout=20)[0].strip() == "False"
    assert heard == [str(tmp_path / "größe 模型.gguf")]
    first.release()


def test_a_file_handed_over_is_loaded_in_the_window_that_runs(live: Program, qtbot: QtBot, tmp_path: Path) -> None:
    live.window.show_place("telemetry")
    model = tmp_path / "other.gguf"
    model.write_bytes(b"GGUF")
    open_file(live.window, str(model))
    qtbot.waitUntil(lambda: live.client.model == str(model), timeout=20_000)
    assert live.window.place == "chat" and live.session.preferences["recent_models"][0] == str(model)


@pytest.mark.parametrize(("name", "said"), [("gone.gguf", "There is no file"), ("notes.txt", "is no model file")])
def test_what_is_no_model_file_is_said_and_the_model_stays(
    program: Program, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "notes.txt").write_text("words", encoding="utf-8")
    before = program.session.wanted
    open_file(program.window, str(tmp_path / name))
    assert said in program.window.notices()[0].text and name in program.window.notices()[0].text
    assert program.session.wanted == before


def test_options_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert files_of(["--style", "", "a.gguf"]) == [str(tmp_path / "a.gguf")]


def test_the_event_that_macos_sends_names_the_file() -> None:
    """In a process of its own: there is one application object in each."""
    script = (
        "from PySide6.QtGui import QFileOpenEvent\nfrom app.window.file_opening import Application\n"
        "application = Application(['gannet'])\napplication.opened.connect(print)\n"
        "application.sendEvent(application, QFileOpenEvent('/models/a b.gguf'))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "/models/a b.gguf\n"
