"""One setting as a row of a form: title, editor in the right unit, help, and a mark when it is not the default."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from app.i18n import tr
from app.page_parts.figures_as_words import number_text, size_text
from app.page_parts.labels import icon_button, label, padded, row, set_role
from app.presets.schema import SettingSpec
from app.theme import Theme
from app.theme.tokens import GRID

INT_MAX = 2_000_000_000
BYTES_PER_STEP = 1e9
EDITOR_WIDTH = 150


class SettingRow(QWidget):
    """A row for one setting.

    Signals: `edited()` after the user changed the value.
    """

    edited = Signal()

    def __init__(self, theme: Theme, spec: SettingSpec) -> None:
        super().__init__()
        self.spec = spec
        self._theme = theme
        self._exact: int | float | None = None
        self._rounded = 0.0
        self._automatic = QCheckBox(tr("Automatic"))
        self._automatic.setVisible(spec.automatic)
        self._automatic.setAccessibleName(tr("{title}: automatic").format(title=tr(spec.title)))
        self._editor = self._make_editor(spec)
        self._editor.setAccessibleName(tr(spec.title))
        self._editor.setAccessibleDescription(tr(spec.help))
        self._changed = label("", "soft")
        self._reset = icon_button(theme, "refresh", tr("Back to the default"), self._to_default)
        self._automatic.toggled.connect(self._automatic_toggled)
        self._lay_out(spec)

    def value(self) -> Any:
        """The value in the editor; None for automatic."""
        if self.spec.automatic and self._automatic.isChecked():
            return None
        editor = self._editor
        if isinstance(editor, QCheckBox):
            return editor.isChecked()
        if isinstance(editor, QComboBox):
            return editor.currentText()
        if isinstance(editor, QSpinBox):
            return editor.value()
        assert isinstance(editor, QDoubleSpinBox)
        if self._exact is not None and editor.value() == self._rounded:
            return self._exact  # the editor shows two digits; what was set and not touched stays as it was
        return int(editor.value() * BYTES_PER_STEP) if self.spec.unit == "bytes" else editor.value()

    def set_value(self, value: Any) -> None:
        """Show a value without reporting an edit."""
        self.blockSignals(True)
        if self.spec.automatic:
            self._automatic.setChecked(value is None)
            self._editor.setVisible(value is not None)
        if value is not None:
            self._set_editor(value)
        self.blockSignals(False)
        self.mark()

    def mark(self, role: str = "soft") -> None:
        """Say whether the value differs from the default; `role` colours the title where a finding concerns it."""
        differs = self.value() != self.spec.default
        self._reset.setVisible(differs)
        self._changed.setVisible(differs)
        self._changed.setText(tr("changed, default {value}").format(value=self._in_words(self.spec.default)))
        set_role(self._title, "heading" if role == "soft" else role)

    def _to_default(self) -> None:
        self.set_value(self.spec.default)
        self.edited.emit()

    def _in_words(self, value: Any) -> str:
        if value is None:
            return tr("automatic")
        if isinstance(value, bool):
            return tr("on") if value else tr("off")
        return (
            size_text(value)
            if self.spec.unit == "bytes"
            else number_text(value, 2)
            if isinstance(value, float)
            else str(value)
        )

    def _automatic_toggled(self, on: bool) -> None:
        self._editor.setVisible(not on)
        self._report()

    def _report(self, *_: object) -> None:
        self.mark()
        self.edited.emit()

    def _set_editor(self, value: Any) -> None:
        editor = self._editor
        if isinstance(editor, QCheckBox):
            editor.setChecked(bool(value))
        elif isinstance(editor, QComboBox):
            editor.setCurrentText(str(value))
        elif isinstance(editor, QSpinBox):
            editor.setValue(int(value))
        elif isinstance(editor, QDoubleSpinBox):
            editor.setValue(value / BYTES_PER_STEP if self.spec.unit == "bytes" else float(value))
            self._exact, self._rounded = value, editor.value()

    def _make_editor(self, spec: SettingSpec) -> QWidget:
        if spec.kind == "boolean":
            box = QCheckBox(tr("On"))
            box.toggled.connect(self._report)
            return box
        if spec.choices:
            choice = QComboBox()
            choice.addItems(list(spec.choices))
            choice.activated.connect(self._report)
            return choice
        if spec.kind == "number" or spec.unit == "bytes":
            return self._real_editor(spec)
        whole = padded(QSpinBox())
        whole.setRange(int(spec.minimum or 0), int(min(INT_MAX, spec.maximum if spec.maximum is not None else INT_MAX)))
        whole.setSuffix(_unit_text(spec.unit))
        whole.valueChanged.connect(lambda value: whole.setSuffix(_unit_text(spec.unit, value)))
        whole.setGroupSeparatorShown(True)
        whole.valueChanged.connect(self._report)
        return whole

    def _real_editor(self, spec: SettingSpec) -> QDoubleSpinBox:
        scale = BYTES_PER_STEP if spec.unit == "bytes" else 1.0
        real = padded(QDoubleSpinBox())
        real.setDecimals(2)
        real.setSingleStep(0.5 if spec.unit == "bytes" else 0.05)
        real.setRange((spec.minimum or 0) / scale, (spec.maximum if spec.maximum is not None else 1e15) / scale)
        real.setSuffix(" GB" if spec.unit == "bytes" else _unit_text(spec.unit))
        real.valueChanged.connect(self._report)
        return real

    def _lay_out(self, spec: SettingSpec) -> None:
        self._title = label(tr(spec.title), "heading")
        self._editor.setFixedWidth(self._theme.scaled(EDITOR_WIDTH))
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addLayout(row(self._title, self._changed, 1))
        words.addWidget(label(tr(spec.help), "soft", wrap=True))
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, GRID // 2, 0, GRID // 2)
        whole.setSpacing(GRID)
        whole.addLayout(words, 1)
        for part in (self._reset, self._automatic, self._editor):
            whole.addWidget(part)


def _unit_text(unit: str, count: float = 2) -> str:
    """The unit behind a number in an editor."""
    if count == 1:
        words = {"tokens": tr("token"), "threads": tr("thread"), "layers": tr("layer")}
    else:
        words = {"tokens": tr("tokens"), "threads": tr("threads"), "layers": tr("layers")}
    return f" {words.get(unit, unit)}" if unit else ""
