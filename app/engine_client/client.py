"""`EngineClient`: what the window knows about the engine, and everything it can ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PySide6.QtCore import QObject, Signal

from app.engine_client.chat_stream import ChatStream
from app.engine_client.door import Door
from app.engine_client.events import EventStream
from app.engine_client.http import Call, HttpChannel
from app.engine_client.problem import Crash, EngineProblem
from app.engine_client.process import EngineProcess

TUNING_PHASE = "Tuning"
"""The engine's word for being busy with a tuning."""


class State(Enum):
    """What the engine is doing. The first three are the window's view, the others the engine's own words.

    While it is TUNING the model is not loaded: questions wait as they do for a load.
    """

    STOPPED = "stopped"
    STARTING = "starting"
    CRASHED = "crashed"
    EMPTY = "empty"
    LOADING = "loading"
    READY = "ready"
    BUSY = "busy"
    FAILED = "failed"
    TUNING = "tuning"

    @property
    def listening(self) -> bool:
        """Whether requests can be sent."""
        return self not in (State.STOPPED, State.STARTING, State.CRASHED)


class EngineClient(QObject):
    """The engine process and its HTTP interface.

    Signals:
        state_changed(State): also when the same state was reported with another model or error.
        progress(share 0..1, phase): while a model loads.
        telemetry(dict): a snapshot of the engine's counters, ten a second while a model is loaded.
        log_line(str): a line the engine wrote.
        crashed(Crash): the process ended unasked.
        tune_event(dict): news of a running tuning.
    Attributes: `state`, `model` (path or id of the loaded model, ""), `error` (EngineProblem of a failed load or None),
    `last_telemetry` (dict, empty before the first), `door` (`Door`: the address for other programs).
    """

    state_changed = Signal(object)
    progress = Signal(float, str)
    telemetry = Signal(dict)
    log_line = Signal(str)
    crashed = Signal(object)
    tune_event = Signal(dict)

    def __init__(self, command: Sequence[str] | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = State.STOPPED
        self.model = ""
        self.error: EngineProblem | None = None
        self.last_telemetry: dict[str, Any] = {}
        self._process = EngineProcess(self, list(command) if command else None)
        self._process.ready.connect(self._came_up)
        self._process.died.connect(self._died)
        self._process.line.connect(self.log_line)
        self._channel = HttpChannel(self)
        self.door = Door(self._channel)
        self._events = EventStream(self._channel)
        self._events.arrived.connect(self._event)

    # -- the process -------------------------------------------------------------------

    def start(self) -> None:
        """Start the engine process; `state_changed(EMPTY)` follows when it listens."""
        if self.state in (State.STOPPED, State.CRASHED):
            self._set_state(State.STARTING)
            self._process.start()

    def stop(self) -> None:
        """End the engine process and wait for it (at most about four seconds, usually far less)."""
        self._events.close()
        self._process.stop()
        self.door.engine_down()
        self.model = ""
        self._set_state(State.STOPPED)

    def restart(self) -> None:
        """Stop and start again."""
        self.stop()
        self.start()

    @property
    def pid(self) -> int:
        """Process id of the engine, 0 while there is none."""
        return self._process.pid

    @property
    def url(self) -> str:
        """Address of the private interface."""
        return self._channel.url

    def log_excerpt(self, lines: int = 200) -> str:
        """The last lines the engine wrote, newest last."""
        return self._process.excerpt(lines)

    def allow_folders(self, folders: Sequence[str]) -> None:
        """Let the engine read models in `folders`, now and after every start: it reads nowhere else."""
        self._process.allow_folders(folders)

    # -- models and settings -----------------------------------------------------------

    def load(self, model: str, settings: dict[str, Any] | None = None) -> Call:
        """Load a model (path or id); progress and the outcome arrive as signals."""
        self._allow(model)
        return self._channel.call("POST", "/engine/load", {"model": model, "settings": settings or {}})

    def _allow(self, path: str) -> None:
        if Path(path).is_absolute():
            self._process.serve_folder(path if Path(path).is_dir() else str(Path(path).parent))

    def cancel_load(self) -> Call:
        """Stop loading."""
        return self._channel.call("POST", "/engine/load/cancel", {})

    def unload(self) -> Call:
        """Give the model's memory back."""
        return self._channel.call("POST", "/engine/unload", {})

    def get_settings(self) -> Call:
        """`{"values": {...}, "schema": {...}}`."""
        return self._channel.call("GET", "/engine/settings")

    def patch_settings(self, values: dict[str, Any]) -> Call:
        """Change settings; the answer says which need a reload."""
        return self._channel.call("PATCH", "/engine/settings", values)

    def resize_cache(self, nbytes: int) -> Call:
        """Resize the running cache; answers `{"bytes": set}`."""
        return self._channel.call("POST", "/engine/cache", {"bytes": nbytes})

    def inspect(self, path: str) -> Call:
        """Facts from a model file's header and what would fit here."""
        self._allow(path)
        return self._channel.call("POST", "/engine/inspect", {"path": path})

    # -- chat --------------------------------------------------------------------------

    def chat_stream(self, body: dict[str, Any]) -> ChatStream:
        """Ask for an answer; `body` is OpenAI's, without `stream`."""
        return ChatStream(self._channel, body)

    def tokenize(self, *, text: str | None = None, messages: list[dict[str, Any]] | None = None) -> Call:
        """`{"tokens": n, "context_length": n}` of a text or of a whole conversation."""
        body: dict[str, Any] = {"messages": messages} if messages is not None else {"text": text or ""}
        return self._channel.call("POST", "/engine/tokenize", body)

    # -- what the engine measures ------------------------------------------------------

    def get_telemetry(self) -> Call:
        """One snapshot of the counters."""
        return self._channel.call("GET", "/engine/telemetry")

    def get_experts(self) -> Call:
        """Uses, residency and last use per layer and expert."""
        return self._channel.call("GET", "/engine/experts")

    def get_log(self, lines: int = 200) -> Call:
        """The engine's own log."""
        return self._channel.call("GET", f"/engine/log?lines={lines}")

    def trace(self, on: bool, path: str = "") -> Call:
        """Record expert use to a file, or stop."""
        return self._channel.call("POST", "/engine/trace", {"on": on, **({"path": path} if path else {})})

    def tune(self, budget_s: float) -> Call:
        """Measure candidates on the loaded model; news arrives as `tune_event`."""
        return self._channel.call("POST", "/engine/tune", {"budget_s": budget_s})

    def stored_tuning(self, model: str) -> Call:
        """`{"running", "stored"}`: what a former tuning of `model` found, and what has changed since."""
        return self._channel.call("GET", f"/engine/tune?model={quote(model, safe='')}")

    def cancel_tune(self) -> Call:
        """Stop tuning and go back to what was on."""
        return self._channel.call("POST", "/engine/tune/cancel", {})

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Call:
        """Any other route of the engine."""
        return self._channel.call(method, path, body)

    # -- news --------------------------------------------------------------------------

    def _came_up(self, url: str, key: str) -> None:
        self._channel.point_at(url, key)
        self._events.open()
        self.door.engine_up()
        self._set_state(State.EMPTY)

    def _died(self, crash: Crash) -> None:
        self._events.close()
        self.door.engine_down()
        self.model = ""
        self._set_state(State.CRASHED)
        self.crashed.emit(crash)

    def _event(self, name: str, content: dict[str, Any]) -> None:
        if name == "telemetry":
            self.last_telemetry = content
            self.telemetry.emit(content)
        elif name == "progress":
            self.progress.emit(float(content.get("progress", 0.0)), str(content.get("phase", "")))
        elif name == "state":
            self._take_state(content)
        elif name == "tune":
            self.tune_event.emit(content)

    def _take_state(self, content: dict[str, Any]) -> None:
        try:
            state = State(content.get("state"))
        except ValueError:
            return
        if state == State.BUSY and content.get("phase") == TUNING_PHASE:
            state = State.TUNING
        self.model = str(content.get("model") or "")
        error = content.get("error")
        self.error = EngineProblem(str(error.get("message", "")), str(error.get("code") or "")) if error else None
        self._set_state(state)

    def _set_state(self, state: State) -> None:
        self.state = state
        self.state_changed.emit(state)
