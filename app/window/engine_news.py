"""News of the engine as the window shows it: figures once a second, trouble as notices with a way out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer

from app.context import AppContext
from app.engine_client import Crash, State
from app.i18n import tr
from app.window.engine_panel import EnginePanel
from app.window.header import Header
from app.window.notices import Notice
from app.window.rates import figures_between

if TYPE_CHECKING:
    from app.window.main_window import MainWindow

SECOND_MS = 1000


class EngineNews(QObject):
    """Connects the engine's signals with header, panel and notices."""

    def __init__(self, context: AppContext, header: Header, panel: EnginePanel, window: MainWindow) -> None:
        super().__init__(window)
        self._context = context
        self._header, self._panel, self._window = header, panel, window
        self._before: dict[str, Any] = {}
        self._at = time.monotonic()
        self._trouble: Notice | None = None
        self._tick = QTimer(self)
        self._tick.setInterval(SECOND_MS)
        self._tick.timeout.connect(self._measure)
        context.client.state_changed.connect(self._state_changed)
        context.client.crashed.connect(self._crashed)
        context.session.trouble.connect(lambda line: window.notice("bad", line))
        context.conversations.trouble.connect(self._store_trouble)
        context.conversations.broken.connect(self._record_broken)
        window.closing.connect(self._tick.stop)

    def _state_changed(self, state: State) -> None:
        self._panel.show_state(state)
        if state in (State.READY, State.BUSY, State.LOADING):
            self._clear_trouble()
        if state == State.READY and not self._tick.isActive():
            self._before, self._at = {}, time.monotonic()
            self._tick.start()
        elif not state.listening:
            self._tick.stop()
        if state == State.FAILED and self._context.client.error is not None:
            self._say(self._context.client.error.message, tr("Pick a model"), self._header.open_models)

    def _crashed(self, crash: Crash) -> None:
        self._say(
            crash.reason, tr("Restart"), self._context.session.restart, crash.log or tr("The engine wrote nothing.")
        )

    def _say(self, text: str, button: str, slot: Any, details: str = "") -> None:
        self._clear_trouble()
        self._trouble = self._window.notice("bad", text, button, slot, details)

    def _clear_trouble(self) -> None:
        trouble, self._trouble = self._trouble, None
        if trouble is not None and trouble in self._window.notices():
            trouble.dismiss()

    def _store_trouble(self, why: str) -> None:
        self._window.notice("bad", tr("A chat could not be saved: {why}").format(why=why))

    def _record_broken(self, line: str) -> None:
        self._window.notice(
            "warn", tr("A part of your chats could not be read and is left out: {what}").format(what=line)
        )

    def _measure(self) -> None:
        snapshot, now = self._context.client.last_telemetry, time.monotonic()
        figures = figures_between(self._before, snapshot, now - self._at)
        self._before, self._at = snapshot, now
        self._header.show_figures(figures)
        if self._panel.isVisible():
            self._panel.show_figures(figures)
