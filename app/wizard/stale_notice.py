"""Says, once a run and model, that settings measured here no longer fit this computer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.context import AppContext
from app.engine_client import State
from app.i18n import tr
from app.wizard.stored import change_words, stored_tuning

if TYPE_CHECKING:
    from app.window.main_window import MainWindow


class StaleNotice(QObject):
    """Asks the engine after a load with measured settings whether they still hold."""

    def __init__(self, context: AppContext, window: MainWindow) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        self._asked: set[str] = set()
        context.client.state_changed.connect(self._state_changed)

    def _state_changed(self, state: State) -> None:
        model = self._context.session.wanted
        if state != State.READY or model in self._asked or not self._context.presets.tuned(model):
            return
        self._asked.add(model)
        self._context.client.stored_tuning(model).done.connect(lambda content: self._answered(model, content))

    def _answered(self, model: str, content: Any) -> None:
        stored = stored_tuning(content)
        if stored is None or not stored.stale:
            return
        name = self._context.session.models.title(model)
        changes = "; ".join(map(change_words, stored.stale))
        text = tr("The settings measured for {model} no longer fit this computer. Changed since: {changes}.")
        tune = self._context.actions["model.tune"]
        self._window.notice("warn", text.format(model=name, changes=changes), tr("Measure again"), tune.trigger)
