"""What the user has set in the window, declared once: default, title, help, choices. Settings pages derive from this.

Engine settings are not here: the engine declares those and serves their schema.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.files import atomic_write, put_aside
from app.i18n import tr
from app.version import WRITER_KEY, program_version

VERSION = 1
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Version of a file -> function that turns its content into that of the next version."""


def _pref(default: Any, title: str = "", help_text: str = "", **more: Any) -> Any:
    metadata = {"title": title, "help": help_text, **more}
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass
class Values:
    """Every preference. A field without a title is kept by the program and shown nowhere.

    Field metadata: `title`, `help`, `unit`, `low`, `high`, `choices` (value -> shown text); texts are source texts for
    `app.i18n.tr`.
    """

    theme: str = _pref(
        "system", "Appearance", "Light or dark; System follows your desktop.",
        choices={"system": "System", "light": "Light", "dark": "Dark", "contrast": "High contrast"},
    )  # fmt: skip
    language: str = _pref("", "Language", "Takes effect at the next start.")
    font_points: float = _pref(0.0, "Font size", "0 uses the size of your desktop.", unit="pt", low=0.0, high=32.0)
    reduce_motion: bool = _pref(False, "Reduce motion", "Nothing moves or fades.")
    show_thinking: bool = _pref(False, "Open thinking", "Show a model's thinking unfolded while it answers.")
    enter_sends: bool = _pref(True, "Enter sends", "Off: Ctrl+Enter sends and Enter begins a new line.")
    start_engine: bool = _pref(True, "Load the last model at start", "Off: the engine starts empty.")
    preset: str = _pref("balanced")
    model: str = _pref("")
    recent_models: list[str] = _pref([])
    model_folders: list[str] = _pref([])
    engine_settings: dict[str, Any] = _pref({})
    server: dict[str, Any] = _pref({})
    geometry: dict[str, Any] = _pref({})
    panel_open: bool = _pref(False)
    conversation: int = _pref(0)
    extra: dict[str, Any] = _pref({})


class Preferences(QObject):
    """The preferences and their file.

    Signals: `changed(name)` after a value was set and written. `note` is a line to show when the file was broken.
    """

    changed = Signal(str)

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self.note = ""
        self.values = self._read()

    def __getitem__(self, name: str) -> Any:
        return getattr(self.values, name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self.names():
            raise KeyError(name)
        if getattr(self.values, name) != value:
            setattr(self.values, name, value)
            self.save()
            self.changed.emit(name)

    @staticmethod
    def names() -> tuple[str, ...]:
        """Names of all preferences."""
        return tuple(one.name for one in dataclasses.fields(Values))

    def save(self) -> None:
        """Write the file; the old one stays when that fails."""
        content = {"version": VERSION, WRITER_KEY: program_version(), **dataclasses.asdict(self.values)}
        atomic_write(self._path, json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8"))

    def _read(self) -> Values:
        if not self._path.exists():
            return Values()
        try:
            content = migrated(json.loads(self._path.read_text(encoding="utf-8")))
            return accepted(content)
        except (ValueError, TypeError, AttributeError) as problem:
            aside = put_aside(self._path)
            self.note = tr(
                "Your preferences could not be read ({why}). They are kept as {name}; the defaults are on."
            ).format(why=problem, name=aside.name)
            return Values()


def migrated(content: dict[str, Any]) -> dict[str, Any]:
    """Content of any earlier version as content of this one. Raises ValueError when it is no preferences file."""
    if not isinstance(content, dict) or not isinstance(content.get("version"), int):
        raise ValueError("not a preferences file")
    if content["version"] > VERSION:
        raise ValueError("of a later version")
    while content["version"] < VERSION:
        content = {**MIGRATIONS[content["version"]](content), "version": content["version"] + 1}
    return content


def accepted(content: dict[str, Any]) -> Values:
    """Values from file content; unknown names are ignored, values of a wrong type fall back to the default."""
    values = Values()
    for one in dataclasses.fields(Values):
        default = getattr(values, one.name)
        found = content.get(one.name, default)
        if isinstance(default, float) and isinstance(found, int) and not isinstance(found, bool):
            found = float(found)
        choices = one.metadata.get("choices")
        if type(found) is type(default) and (not choices or found in choices):
            setattr(values, one.name, found)
    return values
