"""Going back to an older version: it says so and leaves every file of the user's as it is. Going forward keeps all."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox

from app import main as program_module
from app.engine_client import State
from app.main import build
from app.newer import DATABASE, NewerFileError, refuse_newer
from app.store import Store
from app.store.schema import MIGRATIONS
from app.version import program_version
from tests.app.conftest import close

JSON_FILES = ("config/preferences.json", "config/presets.json", "data/library.json", "data/downloads.json")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folders of a program that was used: a chat, and files that a later version has written."""
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    store = Store(tmp_path / "data" / DATABASE)
    store.add_message(store.new_conversation().id, None, "user", "kept")
    store.close()
    return tmp_path


def later_json(path: Path, writer: str = "7.1.0") -> None:
    content = {"version": 99, "written_by": writer, "theme": "dark", "what_we_do_not_know": [1]}
    path.write_text(json.dumps({name: value for name, value in content.items() if value}), encoding="utf-8")


def later_database(home: Path) -> sqlite3.Connection:
    """As a later version leaves it; in its log only, as long as the connection is open."""
    connection = sqlite3.connect(home / "data" / DATABASE, isolation_level=None)
    connection.execute("UPDATE program SET version='7.1.0'")
    connection.execute("ALTER TABLE message ADD COLUMN mood TEXT")
    connection.execute("PRAGMA user_version=99")
    return connection


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", JSON_FILES)
def test_a_file_of_a_later_version_is_refused_with_both_versions_and_nothing_is_written(
    qapp: QApplication, home: Path, name: str
) -> None:
    """Else the settings, presets or downloads that only the later version knows are lost."""
    later_json(home / name)
    before = contents(home)
    with pytest.raises(NewerFileError) as refused:
        build(qapp, home / "config", home / "data")
    said = str(refused.value)
    assert Path(name).name in said and "7.1.0" in said and program_version() in said and "Install" in said
    assert contents(home) == before


@pytest.mark.parametrize("crashed", [False, True], ids=["closed", "crashed"])
def test_chats_of_a_later_version_are_refused_and_stay_as_they_are(
    qapp: QApplication, home: Path, crashed: bool
) -> None:
    """Also when that version crashed, so that the new format is only in the database's log."""
    connection = later_database(home)
    if not crashed:
        connection.close()
    before = {name: content for name, content in contents(home).items() if not name.endswith("-shm")}
    with pytest.raises(NewerFileError, match=r"7\.1\.0") as refused:
        build(qapp, home / "config", home / "data")
    assert DATABASE in str(refused.value) and program_version() in str(refused.value)
    after = {name: content for name, content in contents(home).items() if not name.endswith("-shm")}
    connection.close()
    assert after == before


def test_a_later_version_that_did_not_sign_is_refused_as_well(home: Path) -> None:
    later_json(home / "config" / "preferences.json", writer="")
    with pytest.raises(NewerFileError, match="a later version of Gannet than this one"):
        refuse_newer(home / "config", home / "data")


def test_the_program_says_it_in_a_window_and_ends(
    qapp: QApplication, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GANNET_HOME", str(home))
    monkeypatch.setattr(program_module, "Application", lambda arguments: qapp)
    shown: list[str] = []
    monkeypatch.setattr(QMessageBox, "critical", lambda parent, title, text: shown.append(text))
    later_database(home).close()
    before = contents(home)
    assert program_module.main([]) == 2
    assert "7.1.0" in shown[0] and shown[0] in capsys.readouterr().err
    assert contents(home) == before


def test_an_upgrade_keeps_settings_chats_presets_and_models(qapp: QApplication, tmp_path: Path) -> None:
    """From files as the first formats were, whatever has been added since."""
    for name in ("config", "data", "data/models"):
        (tmp_path / name).mkdir()
    (tmp_path / "data" / "models" / "m.gguf").write_bytes(b"weights")
    (tmp_path / "config" / "preferences.json").write_text('{"version": 1, "theme": "dark"}', encoding="utf-8")
    preset = {"key": "own-a", "title": "Mine", "settings": {"io_threads": 3}}
    presets = {"version": 1, "presets": [preset]}
    (tmp_path / "config" / "presets.json").write_text(json.dumps(presets), encoding="utf-8")
    connection = sqlite3.connect(tmp_path / "data" / DATABASE)
    connection.executescript(MIGRATIONS[0] + "PRAGMA user_version=1;")
    connection.execute("INSERT INTO conversation(title, created, updated, active) VALUES ('old chat', 1.0, 1.0, 1)")
    connection.execute(
        "INSERT INTO message(conversation, role, text, status, created) VALUES (1, 'user', 'old words', 'complete', 1)"
    )
    connection.commit()
    connection.close()
    made = build(qapp, tmp_path / "config", tmp_path / "data", [sys.executable, "-c", ""])
    assert made.client.state == State.STOPPED and made.session.preferences["theme"] == "dark"
    assert [one.text for one in made.store.messages(1)] == ["old words"]
    assert made.library.presets.preset("own-a").settings == {"io_threads": 3}
    close(made)
    assert (tmp_path / "data" / "models" / "m.gguf").read_bytes() == b"weights"
    refuse_newer(tmp_path / "config", tmp_path / "data")
