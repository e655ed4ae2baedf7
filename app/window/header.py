"""The header: which model and preset are on, how far loading is, and how fast it goes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.chat.figures import short
from app.context import AppContext
from app.engine_client import State
from app.i18n import tr
from app.window.rates import Figures
from app.window.sparkline import Sparkline


class Header(QWidget):
    """Model picker, preset, progress, speed.

    Signals: `panel_asked` when the speed was clicked; `sidebar_asked`.
    """

    panel_asked = Signal()

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context = context
        self.model = self._quiet(tr("Pick a model"))
        self.preset = self._quiet(tr("Pick a preset"))
        self._model_menu = QMenu(self.model)
        self._model_menu.setToolTipsVisible(True)
        self._model_menu.aboutToShow.connect(self._fill_models)
        self.model.setMenu(self._model_menu)
        self._preset_menu = QMenu(self.preset)
        self._preset_menu.setToolTipsVisible(True)
        self._preset_menu.aboutToShow.connect(self._fill_presets)
        self.preset.setMenu(self._preset_menu)
        self.progress = QProgressBar(self)
        self.progress.setRange(0, 1000)
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(140)
        self.progress.setAccessibleName(tr("Loading progress"))
        self.phase = QLabel(self)
        self.phase.setProperty("role", "soft")
        self.cancel = QToolButton(self)
        self.cancel.setProperty("kind", "quiet")
        self.cancel.setToolTip(tr("Cancel loading"))
        self.cancel.setAccessibleName(tr("Cancel loading"))
        self.cancel.clicked.connect(context.session.cancel)
        self.speed = QPushButton(self)
        self.speed.setProperty("kind", "quiet")
        self.speed.setAccessibleName(tr("Speed, opens the engine panel"))
        self.speed.setToolTip(tr("The last minute of tokens per second. Opens the engine panel."))
        self.speed.clicked.connect(self.panel_asked)
        self.line = Sparkline(context.theme, parent=self)
        self.line.setFixedSize(72, 20)
        self._lay_out()
        context.theme.tint(self.cancel, "close")
        context.theme.tint(self.speed, "gauge", size=18)
        self.speed.setText(tr("Engine"))
        context.session.changed.connect(self.refresh)
        context.client.progress.connect(self._progressed)
        context.client.state_changed.connect(lambda _: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Show what is on now."""
        session, state = self._context.session, self._context.client.state
        title = session.models.title(session.wanted) or tr("No model")
        self.model.setText(f"{self._fitted(title)}  ▾")
        self.model.setToolTip(tr("Model: {name}").format(name=title))
        presets = {one.key: one.title for one in session.presets.choices()}
        self.preset.setText(f"{presets.get(session.preferences['preset'], tr('Preset'))}  ▾")
        loading = state in (State.LOADING, State.STARTING)
        if loading and not self.progress.isVisible():
            self.progress.setRange(0, 0 if state == State.STARTING else 1000)
            self.progress.setValue(0)
        self.progress.setVisible(loading)
        self.cancel.setVisible(state == State.LOADING)
        self.phase.setVisible(loading or state in (State.FAILED, State.CRASHED, State.EMPTY, State.TUNING))
        self.phase.setText(self._phase_words(state))
        self._context.actions["model.cancel"].setEnabled(state == State.LOADING)

    def show_figures(self, figures: Figures) -> None:
        """The speed of the last interval."""
        self.line.add(figures.tokens_per_s)
        words = tr("{n} tok/s").format(n=short(figures.tokens_per_s)) if figures.tokens_per_s is not None else ""
        self.speed.setText(words or tr("Engine"))

    def open_models(self) -> None:
        """Open the model menu, for the keyboard."""
        self.model.showMenu()

    def open_presets(self) -> None:
        """Open the preset menu, for the keyboard."""
        self.preset.showMenu()

    def set_narrow(self, narrow: bool) -> None:
        """Where there is little room the sparkline and the progress words go first."""
        self.line.setVisible(not narrow)
        self.progress.setFixedWidth(60 if narrow else 140)

    def _fitted(self, title: str) -> str:
        return self.fontMetrics().elidedText(title, Qt.TextElideMode.ElideMiddle, 260)

    def _phase_words(self, state: State) -> str:
        if state == State.STARTING:
            return tr("Starting the engine…")
        if state == State.EMPTY:
            return tr("No model is loaded")
        if state == State.TUNING:
            return tr("Measuring settings…")
        if state == State.FAILED:
            return tr("The model could not be loaded")
        if state == State.CRASHED:
            return tr("The engine has stopped")
        return self.phase.text() if state == State.LOADING and self.phase.text() else tr("Loading…")

    def _progressed(self, share: float, phase: str) -> None:
        self.progress.setRange(0, 1000)
        self.progress.setValue(int(1000 * share))
        self.phase.setText(f"{phase or tr('Loading…')} {100 * share:.0f} %")

    def _fill_models(self) -> None:
        session = self._context.session
        self._model_menu.clear()
        for choice in session.models.choices():
            action = self._model_menu.addAction(f"{choice.title}\t{choice.note}" if choice.note else choice.title)
            action.setCheckable(True)
            action.setChecked(choice.key == session.wanted)
            action.setToolTip(choice.key)
            action.triggered.connect(lambda _=False, key=choice.key: session.use_model(key))
        self._model_menu.addSeparator()
        more = self._model_menu.addAction(self._context.theme.icon("models"), tr("More models…"))
        more.triggered.connect(lambda: self._context.frame.show_place("models"))
        if self._context.client.model:
            unload = self._model_menu.addAction(tr("Unload the model"))
            unload.triggered.connect(session.unload)

    def _fill_presets(self) -> None:
        session = self._context.session
        self._preset_menu.clear()
        for choice in session.presets.choices():
            action = self._preset_menu.addAction(choice.title)
            action.setToolTip(choice.note)
            action.setCheckable(True)
            action.setChecked(choice.key == session.preferences["preset"])
            action.triggered.connect(lambda _=False, key=choice.key: session.use_preset(key))
        self._preset_menu.addSeparator()
        more = self._preset_menu.addAction(self._context.theme.icon("settings"), tr("Engine settings…"))
        more.triggered.connect(lambda: self._context.frame.show_place("settings"))

    def _quiet(self, name: str) -> QPushButton:
        button = QPushButton(self)
        button.setProperty("kind", "quiet")
        button.setAccessibleName(name)
        return button

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(16, 6, 12, 6)
        row.setSpacing(4)
        row.addWidget(self.model)
        row.addWidget(self.preset)
        row.addSpacing(8)
        row.addWidget(self.progress)
        row.addWidget(self.phase)
        row.addWidget(self.cancel)
        row.addStretch(1)
        row.addWidget(self.line)
        row.addWidget(self.speed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
