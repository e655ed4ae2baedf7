"""The Telemetry place: live figures of the engine, ten times a second while somebody looks, and not otherwise."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QToolButton

from app.context import AppContext
from app.engine_client import State
from app.i18n import tr
from app.models.inspection import facts_from_inspection
from app.page_parts.figures_as_words import size_text
from app.page_parts.labels import icon_button
from app.page_parts.page_frame import Column, PageFrame
from app.page_parts.state_view import StateView
from app.telemetry.dashboard import Dashboard
from app.telemetry.expert_grid import make_grid
from app.telemetry.live import LiveFigures
from app.telemetry.recording import CsvRecording

EXPERTS_EVERY_MS = 1000
WIDEST = 1400


class TelemetryPage(PageFrame):
    """The Telemetry place. Attributes: `live`, `dashboard`, `paused`."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(tr("Telemetry"))
        self._context = context
        self.live = LiveFigures()
        self.dashboard = Dashboard(context.theme, self.live)
        self.paused = False
        self._visible = False
        self._following = False
        self._asking = False
        self._expert_map: dict[str, Any] = {}
        self._shape_of = ""
        self._recording: CsvRecording | None = None
        self._began = time.monotonic()
        self._seen = 0.0
        self._total_memory = int(psutil.virtual_memory().total)
        self._state = StateView(context.theme)
        self._column = Column(WIDEST)
        self._column.body.addWidget(self.dashboard)
        self._column.body.addStretch(1)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._state)
        self._stack.addWidget(self._column)
        self.column.addWidget(self._stack, 1)
        self.record_button = self._title_button("record", tr("Record to a CSV file"), self._toggle_recording)
        self.copy_button = self._title_button("image", tr("Copy as an image"), self.copy_image)
        self.pause_button = self._title_button("pause", tr("Pause"), self.toggle_pause)
        self._experts_timer = QTimer(self)
        self._experts_timer.setInterval(EXPERTS_EVERY_MS)
        self._experts_timer.timeout.connect(self._ask_experts)
        self.dashboard.cache_chosen.connect(self._resize_cache)
        self.dashboard.order_changed.connect(self._show_experts)
        context.client.state_changed.connect(self._state_changed)

    def shown(self) -> None:
        """The page came to the front: follow the engine."""
        self._visible = True
        self._follow()
        self._state_changed()
        self._catch_up()
        if self._context.client.last_telemetry:
            self._took(self._context.client.last_telemetry)

    def hidden(self) -> None:
        """The page left: nothing is drawn, asked or, unless a recording runs, even taken in."""
        self._visible = False
        self._experts_timer.stop()
        self._follow()

    def toggle_pause(self) -> None:
        """Hold the picture still, or let it go on."""
        self.paused = not self.paused
        if not self.paused:
            self._catch_up()
        name = tr("Go on") if self.paused else tr("Pause")
        self._context.theme.tint(self.pause_button, "play" if self.paused else "pause")
        self.pause_button.setToolTip(name)
        self.pause_button.setAccessibleName(name)

    def copy_image(self) -> None:
        """Put a picture of the dashboard on the clipboard."""
        QGuiApplication.clipboard().setPixmap(self.dashboard.grab())
        self._context.frame.toast(tr("The picture is on the clipboard."))

    def start_recording(self, path: Path) -> None:
        """Write every snapshot to a CSV file from now on."""
        try:
            self._recording = CsvRecording(path)
        except OSError as problem:
            self._context.frame.toast(tr("The recording cannot be written: {problem}").format(problem=problem.strerror))
            return
        self._show_recording()
        self._follow()

    def stop_recording(self) -> None:
        """Close the file and say where it is."""
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.close()
            self._context.frame.toast(tr("{n} rows are in {name}.").format(n=recording.rows, name=recording.path.name))
        self._show_recording()
        self._follow()

    def _follow(self) -> None:
        """Be connected to the engine's telemetry exactly while somebody looks or records."""
        wanted = self._visible or self._recording is not None
        if wanted and not self._following:
            self._context.client.telemetry.connect(self._took)
        elif not wanted and self._following:
            self._context.client.telemetry.disconnect(self._took)
        self._following = wanted

    def _catch_up(self) -> None:
        """Take what came since the page last took something: plots begin with the model, not with the visit."""
        self.live.catch_up((at - self._began, one) for at, one in self._context.history.since(self._seen))
        self._seen = time.monotonic()

    def _took(self, snapshot: dict[str, Any]) -> None:
        now = time.monotonic() - self._began
        if self._recording is not None:
            self._record(now, snapshot)
        if self._visible and not self.paused:
            self.live.add(now, snapshot)
            self._seen = now + self._began
            if self._stack.currentWidget() is self._column:
                self.dashboard.refresh(snapshot, self._total_memory)

    def _record(self, now: float, snapshot: dict[str, Any]) -> None:
        try:
            if self._recording is not None:
                self._recording.add(now, snapshot)
        except OSError:
            self.stop_recording()
            self._context.frame.toast(tr("The recording stopped: the drive is full or gone."))

    def _state_changed(self, *_: object) -> None:
        if not self._visible:
            return
        state = self._context.client.state
        running = state in (State.READY, State.BUSY)
        self._stack.setCurrentWidget(self._column if running else self._state)
        for one in (self.record_button, self.copy_button, self.pause_button):
            one.setEnabled(running or (one is self.record_button and self._recording is not None))
        if not running:
            self._experts_timer.stop()
            self._show_state(state)
            return
        self._experts_timer.start()
        self._ask_experts()
        if self._context.session.wanted != self._shape_of:
            self._new_model(self._context.session.wanted)

    def _new_model(self, model: str) -> None:
        self._shape_of = model
        self.live.reset()
        self.dashboard.shape = None
        call = self._context.client.inspect(model)
        call.done.connect(self._inspected)

    def _inspected(self, content: Any) -> None:
        facts, _ = facts_from_inspection(content)
        self.dashboard.shape = facts.shape if facts else None

    def _show_state(self, state: State) -> None:
        session = self._context.session
        if state in (State.STARTING, State.LOADING):
            cancel = session.cancel if state == State.LOADING else None
            self._state.loading(
                tr("Loading the model"), tr("Figures appear as soon as it is there."),
                button=tr("Cancel") if cancel else "", slot=cancel,
            )  # fmt: skip
        elif state == State.TUNING:
            self._state.loading(
                tr("Measuring settings"), tr("Figures go on when the model is back."),
                button=tr("Show"), slot=self._context.actions["model.tune"].trigger,
            )  # fmt: skip
        elif state in (State.CRASHED, State.FAILED):
            problem = self._context.client.error
            text = problem.message if problem else tr("The engine stopped unexpectedly.")
            self._state.error(tr("Nothing to measure"), text, tr("Restart the engine"), session.restart)
        else:
            self._state.empty(
                "telemetry", tr("No model is loaded"),
                tr("Load one, ask something, and see here where the time goes."),
                tr("Load the model"), session.reload,
            )  # fmt: skip

    def _ask_experts(self) -> None:
        if self._asking or self.paused:
            return
        self._asking = True
        call = self._context.client.get_experts()
        call.done.connect(self._experts_came)
        call.failed.connect(self._experts_refused)

    def _experts_came(self, content: Any) -> None:
        self._asking = False
        changed = content != self._expert_map
        if isinstance(content, dict) and changed:
            self._expert_map = content
            self._show_experts()

    def _experts_refused(self, _: object) -> None:
        self._asking = False

    def _show_experts(self) -> None:
        self.dashboard.show_experts(make_grid(self._expert_map, self.dashboard.by_popularity()))

    def _resize_cache(self, nbytes: int) -> None:
        call = self._context.client.resize_cache(nbytes)
        call.done.connect(self._resized)
        call.failed.connect(lambda problem: self._context.frame.toast(problem.message))

    def _resized(self, content: Any) -> None:
        size = int(content.get("bytes", 0)) if isinstance(content, dict) else 0
        self._context.frame.toast(tr("The expert cache is {size} now.").format(size=size_text(size)))

    def _toggle_recording(self) -> None:
        if self._recording is not None:
            self.stop_recording()
            return
        path, _ = QFileDialog.getSaveFileName(self, tr("Record telemetry"), "gannet.csv", tr("Tables (*.csv)"))
        if path:
            self.start_recording(Path(path))

    def _show_recording(self) -> None:
        running = self._recording is not None
        self._context.theme.tint(self.record_button, "stop" if running else "record", "bad" if running else "text_soft")
        name = tr("Stop recording") if running else tr("Record to a CSV file")
        self.record_button.setToolTip(name)
        self.record_button.setAccessibleName(name)

    def _title_button(self, icon: str, name: str, slot: Any) -> QToolButton:
        made = icon_button(self._context.theme, icon, name, slot)
        self.title_row.addWidget(made)
        return made
