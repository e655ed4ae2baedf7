"""System prompt and sampling of a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.i18n import tr
from app.page_parts.labels import padded
from app.store import Sampling


@dataclass(frozen=True)
class SamplingField:
    """One field of `Sampling`: its title, range, step and what it does (source texts for `tr`)."""

    name: str
    title: str
    low: float
    high: float
    step: float
    decimals: int
    help: str


SAMPLING_FIELDS: tuple[SamplingField, ...] = (
    SamplingField(
        "temperature", "Temperature", 0, 5, 0.1, 2, "Higher is more varied, 0 always picks the likeliest word."
    ),
    SamplingField("top_p", "Top-p", 0, 1, 0.05, 2, "Picks among the likeliest words that together have this share."),
    SamplingField("top_k", "Top-k", 0, 1000, 1, 0, "Picks among this many likeliest words; 0 takes all."),
    SamplingField("min_p", "Min-p", 0, 1, 0.01, 2, "Leaves out words much less likely than the likeliest."),
    SamplingField(
        "repeat_penalty", "Repeat penalty", 0.5, 2, 0.05, 2, "Above 1 makes repeating the same words less likely."
    ),
    SamplingField("max_tokens", "Longest answer", 1, 131072, 64, 0, "An answer ends after this many tokens."),
    SamplingField("seed", "Seed", 0, 2**31 - 1, 1, 0, "The same seed gives the same answer again."),
)


FIELD_HEIGHT = 26


class OptionsPanel(QFrame):
    """Edits the options of the chat in front.

    Signals: `edited(system, Sampling)` as soon as something changed.
    """

    edited = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._filling = False
        self.system = QPlainTextEdit(self)
        self.system.setTabChangesFocus(True)
        self.system.setPlaceholderText(
            tr("What the model should know or how it should answer, in every message of this chat.")
        )
        self.system.setAccessibleName(tr("System prompt"))
        self.system.setFixedHeight(4 * self.fontMetrics().lineSpacing())
        self.system.textChanged.connect(self._changed)
        self.fields: dict[str, QDoubleSpinBox] = {}
        self._lay_out()
        self.hide()

    def show_options(self, system: str, sampling: Sampling) -> None:
        """Fill in without reporting a change."""
        self._filling = True
        if self.system.toPlainText() != system:
            self.system.setPlainText(system)
        for field in SAMPLING_FIELDS:
            value = getattr(sampling, field.name)
            box = self.fields[field.name]
            box.setValue(box.minimum() if value is None else value)
        self._filling = False

    def sampling(self) -> Sampling:
        """What is set; a field on "Default" is None."""
        values: dict[str, Any] = {}
        for field in SAMPLING_FIELDS:
            box = self.fields[field.name]
            if box.value() > box.minimum():
                values[field.name] = round(box.value(), 4) if field.decimals else int(box.value())
        return Sampling(**values)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        head = QHBoxLayout()
        title = QLabel(tr("Options of this chat"), self)
        title.setProperty("role", "heading")
        head.addWidget(title, 1)
        reset = QPushButton(tr("Reset sampling"), self)
        reset.setProperty("kind", "quiet")
        reset.clicked.connect(self._reset)
        close = QPushButton(tr("Done"), self)
        close.clicked.connect(self.hide)
        head.addWidget(reset)
        head.addWidget(close)
        column.addLayout(head)
        column.addWidget(self.system)
        grid = QGridLayout()
        for number, field in enumerate(SAMPLING_FIELDS):
            row, place = divmod(number, 4)
            grid.addWidget(self._title(field), 2 * row, place)
            grid.addWidget(self._field(field), 2 * row + 1, place)
        column.addLayout(grid)

    def _title(self, field: SamplingField) -> QLabel:
        label = QLabel(tr(field.title), self)
        label.setProperty("role", "soft")
        label.setToolTip(tr(field.help))
        return label

    def _field(self, field: SamplingField) -> QDoubleSpinBox:
        box = padded(QDoubleSpinBox(self))
        box.setDecimals(field.decimals)
        box.setRange(field.low - field.step, field.high)
        box.setSingleStep(field.step)
        box.setSpecialValueText(tr("Default"))
        box.setValue(box.minimum())
        box.setToolTip(tr(field.help))
        box.setAccessibleName(tr(field.title))
        box.setMinimumHeight(FIELD_HEIGHT)
        box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        box.valueChanged.connect(self._changed)
        self.fields[field.name] = box
        return box

    def _reset(self) -> None:
        self.show_options(self.system.toPlainText(), Sampling())
        self._changed()

    def _changed(self, _value: float = 0.0) -> None:
        if not self._filling:
            self.edited.emit(self.system.toPlainText(), self.sampling())
