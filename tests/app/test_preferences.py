"""The preferences file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import preferences as module
from app.preferences import Preferences, Values, accepted, migrated


def test_what_was_set_is_there_at_the_next_start(tmp_path: Path) -> None:
    """Else every start is a first start."""
    path = tmp_path / "preferences.json"
    first = Preferences(path)
    first["theme"] = "dark"
    first["recent_models"] = ["/a/ü.gguf"]
    again = Preferences(path)
    assert (again["theme"], again["recent_models"], again.note) == ("dark", ["/a/ü.gguf"], "")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"theme": "dark"}', '{"version": "x"}', "\x00\x01"])
def test_a_broken_file_is_put_aside_and_said(tmp_path: Path, content: str) -> None:
    """Else the program does not start, or the file is overwritten."""
    path = tmp_path / "preferences.json"
    path.write_text(content, encoding="utf-8")
    found = Preferences(path)
    assert found.values == Values()
    aside = next(tmp_path.glob("preferences.json.broken-*"))
    assert aside.read_text(encoding="utf-8") == content and aside.name in found.note


def test_values_of_a_wrong_type_fall_back_to_the_default() -> None:
    """Else one edited line breaks the window."""
    values = accepted({"theme": "purple", "font_points": 12, "reduce_motion": "yes", "recent_models": 3, "new": 1})
    assert (values.theme, values.font_points, values.reduce_motion, values.recent_models) == ("system", 12.0, False, [])


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a full disk destroys the preferences."""
    path = tmp_path / "preferences.json"
    Preferences(path)["theme"] = "dark"
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        Preferences(path)["theme"] = "light"
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["preferences.json"]


def test_older_files_are_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an update forgets what was set."""
    monkeypatch.setattr(module, "VERSION", 3)
    monkeypatch.setattr(
        module, "MIGRATIONS", {1: lambda old: {**old, "theme": old["look"]}, 2: lambda old: {**old, "more": 1}}
    )
    assert migrated({"version": 1, "look": "dark"}) == {"version": 3, "look": "dark", "theme": "dark", "more": 1}


def test_a_file_of_a_newer_version_is_never_written_over(tmp_path: Path) -> None:
    """The program refuses to start with one (`test_newer.py`); should it be read all the same, it is put aside."""
    path = tmp_path / "preferences.json"
    path.write_text(json.dumps({"version": 99, "theme": "dark", "hologram": True}), encoding="utf-8")
    preferences = Preferences(path)
    preferences["theme"] = "light"
    (kept,) = tmp_path.glob("*.broken-*")
    assert json.loads(kept.read_text(encoding="utf-8"))["hologram"] is True


def test_an_undeclared_name_is_an_error(tmp_path: Path) -> None:
    """Else a misspelt setting is lost silently."""
    with pytest.raises(KeyError):
        Preferences(tmp_path / "p.json")["themme"] = "dark"
