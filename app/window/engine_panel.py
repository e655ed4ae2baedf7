"""The engine panel: the five figures that matter, each with its unit, its last minute and one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from app.chat.figures import short
from app.context import AppContext
from app.engine_client import State
from app.i18n import tr
from app.window.rates import Figures
from app.window.sparkline import Sparkline

WIDTH = 200

STATE_WORDS = {
    State.STOPPED: "The engine is off.",
    State.STARTING: "The engine is starting…",
    State.CRASHED: "The engine has stopped unexpectedly.",
    State.EMPTY: "No model is loaded.",
    State.LOADING: "Loading the model…",
    State.READY: "Ready.",
    State.BUSY: "Answering…",
    State.FAILED: "The model could not be loaded.",
    State.TUNING: "Measuring settings; answers wait.",
}


@dataclass(frozen=True)
class Gauge:
    """A figure of the panel: field of `Figures`, title, what it means (source texts), scale."""

    name: str
    title: str
    help: str
    ceiling: float = 0.0


GAUGES: tuple[Gauge, ...] = (
    Gauge("tokens_per_s", "Speed", "How many tokens (about three quarters of a word each) are written per second."),
    Gauge("hit_rate", "Experts in memory", "Share of the experts needed that were in memory already.", 1.0),
    Gauge("stall_ms", "Waiting for the SSD", "How long each token waited for experts to be read from the SSD."),
    Gauge("memory_share", "Memory", "Share of this computer's memory that the engine uses.", 1.0),
    Gauge("read_rate", "SSD", "How much is read from the SSD per second."),
)


class EnginePanel(QWidget):
    """The panel at the right.

    Signals: `telemetry_asked` when the user wants the whole page.
    """

    telemetry_asked = Signal()

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.setObjectName("engine-panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = context.theme
        self._fit()
        context.theme.changed.connect(self._fit)
        self._values: dict[str, QLabel] = {}
        self._lines: dict[str, Sparkline] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(2)
        title = QLabel(tr("Engine"), self)
        title.setProperty("role", "heading")
        column.addWidget(title)
        self._state = QLabel(self)
        self._state.setProperty("role", "soft")
        self._state.setWordWrap(True)
        column.addWidget(self._state)
        for gauge in GAUGES:
            column.addSpacing(10)
            self._add(column, gauge, context)
        column.addStretch(1)
        rule = QFrame(self)
        rule.setProperty("role", "rule")
        column.addWidget(rule)
        more = QPushButton(tr("Open full telemetry"), self)
        more.setProperty("kind", "quiet")
        more.clicked.connect(self.telemetry_asked)
        column.addWidget(more)
        self.show_state(context.client.state)
        self.show_figures(Figures())

    def _fit(self) -> None:
        self.setFixedWidth(self._theme.scaled(WIDTH))

    def show_state(self, state: State) -> None:
        """What the engine is doing, in words."""
        self._state.setText(tr(STATE_WORDS[state]))

    def show_figures(self, figures: Figures) -> None:
        """The figures of the last interval."""
        for gauge in GAUGES:
            value = getattr(figures, gauge.name)
            self._values[gauge.name].setText(in_units(gauge.name, value))
            self._lines[gauge.name].add(value)

    def _add(self, column: QVBoxLayout, gauge: Gauge, context: AppContext) -> None:
        title = QLabel(tr(gauge.title), self)
        title.setProperty("role", "soft")
        value = QLabel(self)
        value.setProperty("role", "heading")
        value.setAccessibleName(tr(gauge.title))
        line = Sparkline(context.theme, ceiling=gauge.ceiling, parent=self)
        line.setFixedHeight(24)
        for widget in (title, value, line):
            widget.setToolTip(tr(gauge.help))
            column.addWidget(widget)
        self._values[gauge.name], self._lines[gauge.name] = value, line


def in_units(name: str, value: float | None) -> str:
    """A figure with its unit, "–" when there is none."""
    if value is None:
        return "–"
    if name == "tokens_per_s":
        return tr("{n} tok/s").format(n=short(value))
    if name in ("hit_rate", "memory_share"):
        return f"{100 * value:.0f} %"
    if name == "stall_ms":
        return tr("{n} ms per token").format(n=short(value))
    return tr("{n} MB/s").format(n=short(value / 1e6))
