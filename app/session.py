"""Which model and preset are on, and what happens at start: the window's policy over `EngineClient`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine_client import Call, Crash, EngineClient, EngineProblem, State
from app.i18n import tr
from app.preferences import Preferences

RECENT_MODELS = 8
LOAD_TRIES = 5
LOAD_AGAIN_MS = 150
HTTP_NOT_FOUND = 404
TUNING, LOADING = "tuning_in_progress", "load_in_progress"
DEMO_CACHE_BYTES = 8 << 20
"""Cache of the built-in demo model: small on purpose, so that hits, stalls and the heat map have something to show."""
DEMO_VARIABLE = "GANNET_DEMO_MODEL"


@dataclass(frozen=True)
class Choice:
    """One entry of the model or preset button: `key` (path or name), shown `title`, and a soft `note` beside it."""

    key: str
    title: str
    note: str = ""


class ModelSource(Protocol):
    """Where the header's model menu comes from."""

    def choices(self) -> Sequence[Choice]:
        """Models to offer, most recent first."""
        ...

    def title(self, key: str) -> str:
        """What to call the model `key` (a path or id)."""
        ...


class PresetSource(Protocol):
    """Where the header's preset menu comes from."""

    def choices(self) -> Sequence[Choice]:
        """Every preset, in order."""
        ...

    def settings(self, key: str, model: str) -> dict[str, Any]:
        """Engine settings that preset `key` gives model `model`."""
        ...


class RecentModels:
    """Models that were used before, from the preferences."""

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences

    def choices(self) -> Sequence[Choice]:
        """The demo model first while there is no other, else what was used last."""
        recent = [Choice(path, self.title(path)) for path in self._preferences["recent_models"]]
        demo = str(demo_model())
        return [*recent, *([] if any(one.key == demo for one in recent) else [Choice(demo, self.title(demo))])]

    def title(self, key: str) -> str:
        """The file's name without its ending; the demo model has a name of its own."""
        if not key:
            return ""
        return tr("Demo model") if is_demo(key) else Path(key).stem


class DefaultPreset:
    """The engine's own defaults, under the name Balanced."""

    def choices(self) -> Sequence[Choice]:
        """Just the one."""
        return [Choice("balanced", tr("Balanced"))]

    def settings(self, key: str, model: str) -> dict[str, Any]:
        """Nothing differs from the defaults."""
        return {}


def demo_model() -> Path:
    """The model that comes with the program."""
    named = os.environ.get(DEMO_VARIABLE)
    return Path(named) if named else Path(__file__).resolve().parents[1] / "assets" / "demo-moe.gguf"


def is_demo(model: str) -> bool:
    """Whether `model` is the built-in demo model."""
    return bool(model) and Path(model).name == demo_model().name


class EngineSession(QObject):
    """Keeps the engine up and the wanted model loaded.

    Attributes: `models`, `presets` (sources of the header's menus), `wanted` (the model the user chose), `last_crash`.
    Signals: `changed` when the wanted model, the preset or their state changed; `trouble(text)` one line for the user.
    """

    changed = Signal()
    trouble = Signal(str)

    def __init__(self, client: EngineClient, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.client = client
        self.preferences = preferences
        self.models: ModelSource = RecentModels(preferences)
        self.presets: PresetSource = DefaultPreset()
        self.wanted = preferences["model"] or str(demo_model())
        self.last_crash: Crash | None = None
        self._load_when_up = False
        self._asked = False
        client.state_changed.connect(self._state_changed)
        client.crashed.connect(self._crashed)

    def begin(self) -> None:
        """Start the engine and load the last model, or the demo model the first time."""
        self._load_when_up = self.preferences["start_engine"]
        self.client.allow_folders(self.preferences["model_folders"])
        self._allow(self.wanted, str(demo_model()), *self.preferences["recent_models"])
        self.client.start()

    def use_model(self, model: str) -> None:
        """Load `model` now; starts the engine when it is not up."""
        self.wanted = model
        self._allow(model)
        self._remember(model)
        self._load()

    def use_preset(self, key: str) -> None:
        """Switch the preset and load the model again with it."""
        self.preferences["preset"] = key
        self._load()

    def reload(self) -> None:
        """Load the wanted model again, with the settings as they are now."""
        self._load()

    def restart(self) -> None:
        """A new engine with the same model."""
        self.last_crash = None
        self._load_when_up = True
        self.client.restart()

    def cancel(self) -> None:
        """Stop loading."""
        if self.client.state == State.LOADING:
            self._watch(self.client.cancel_load())

    def unload(self) -> None:
        """Give the model's memory back."""
        self._watch(self.client.unload())

    def settings(self) -> dict[str, Any]:
        """Engine settings for the wanted model: the preset's, then what the user set by hand."""
        own = {**self.presets.settings(self.preferences["preset"], self.wanted), **self.preferences["engine_settings"]}
        return {"cache_bytes": DEMO_CACHE_BYTES, **own} if is_demo(self.wanted) else own

    @property
    def settled(self) -> bool:
        """False from the moment a load was asked for until the engine has begun it (or refused)."""
        return not self._asked

    def _load(self) -> None:
        self.changed.emit()
        if self.client.state.listening:
            self._load_when_up = False
            self._asked = True
            self._request_load(LOAD_TRIES)
        else:
            self._load_when_up = True
            self.client.start()

    def _request_load(self, tries: int) -> None:
        """Ask for the load.

        Asked again is what is true for a moment only: "not found" while the engine has not read yet which folder it may
        use, and "a tuning is running" while the one that has just ended puts its things away. A load that goes on, such
        as that after a tuning, gives way to this one.
        """
        model = self.wanted
        call = self.client.load(model, self.settings())

        def refused(problem: EngineProblem) -> None:
            passing = problem.status == HTTP_NOT_FOUND or problem.code in (TUNING, LOADING)
            if problem.code == LOADING:
                self.client.cancel_load()
            if passing and tries > 1 and model == self.wanted and self.client.state.listening:
                QTimer.singleShot(LOAD_AGAIN_MS, self, lambda: self._request_load(tries - 1))
            else:
                self._refused(problem)

        call.failed.connect(refused)

    def _allow(self, *models: str) -> None:
        self.client.allow_folders([str(Path(model).parent) for model in models if Path(model).is_absolute()])

    def _remember(self, model: str) -> None:
        self.preferences["model"] = model
        recent = [model, *(one for one in self.preferences["recent_models"] if one != model)]
        self.preferences["recent_models"] = recent[:RECENT_MODELS]

    def _watch(self, call: Call) -> None:
        call.failed.connect(self._refused)

    def _refused(self, problem: EngineProblem) -> None:
        self._asked = False
        self.trouble.emit(problem.message)

    def _state_changed(self, state: State) -> None:
        if state not in (State.READY, State.BUSY):
            self._asked = False
        if state == State.EMPTY and self._load_when_up:
            self._load()
        self.changed.emit()

    def _crashed(self, crash: Crash) -> None:
        self.last_crash = crash
        self.changed.emit()
