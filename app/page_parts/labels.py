"""Labels, buttons and boxes in the program's looks, each made in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.theme import Theme
from app.theme.tokens import GRID

Spin = TypeVar("Spin", QSpinBox, QDoubleSpinBox)


def label(text: str, role: str = "", *, wrap: bool = False, select: bool = False) -> QLabel:
    """A text in a role of the style sheet ("title", "heading", "soft", "figure", "good", "warn", "bad")."""
    made = QLabel(text)
    if role:
        made.setProperty("role", role)
    made.setTextFormat(Qt.TextFormat.PlainText)
    if wrap:
        made.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        made.setSizePolicy(policy)
    if select:
        flags = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        made.setTextInteractionFlags(flags)
    return made


def set_role(target: QWidget, role: str) -> None:
    """Give a label or frame another role."""
    if target.property("role") != role:
        target.setProperty("role", role)
        target.style().unpolish(target)
        target.style().polish(target)


def button(text: str, slot: Callable[[], object] | None = None, kind: str = "") -> QPushButton:
    """A push button; `kind` is "primary", "quiet" or "danger"."""
    made = QPushButton(text)
    if kind:
        made.setProperty("kind", kind)
    if slot is not None:
        made.clicked.connect(lambda: slot())
    return made


def icon_button(theme: Theme, icon: str, name: str, slot: Callable[[], object] | None = None) -> QToolButton:
    """A button that is only an icon; `name` is its tooltip and accessible name."""
    made = QToolButton()
    made.setProperty("kind", "quiet")
    made.setToolTip(name)
    made.setAccessibleName(name)
    theme.tint(made, icon)
    if slot is not None:
        made.clicked.connect(lambda: slot())
    return made


def fixed_font() -> QFont:
    """The desktop's font of equal widths; its size is that of the text around it, also when that changes."""
    found = QFont()
    found.setFamilies(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families())
    found.setFixedPitch(True)
    return found


def padded(box: Spin) -> Spin:
    """A number field whose text keeps off the border; the style sheet's padding does not reach it."""
    box.lineEdit().setTextMargins(6, 0, 0, 0)
    return box


def card() -> tuple[QFrame, QVBoxLayout]:
    """A raised box and its column."""
    frame = QFrame()
    frame.setProperty("role", "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(2 * GRID, GRID + 4, 2 * GRID, GRID + 4)
    column.setSpacing(GRID // 2)
    return frame, column


def row(*items: QWidget | int, spacing: int = GRID) -> QHBoxLayout:
    """Widgets side by side; a number is stretch of that weight."""
    made = QHBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            made.addStretch(item)
        else:
            made.addWidget(item)
    return made


def clear(layout: QLayout) -> None:
    """Take everything out of a layout. Widgets disappear at once and are deleted when the event loop comes round."""
    while layout.count():
        item = layout.takeAt(0)
        widget = item.widget() if item else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def discard(widget: QWidget) -> None:
    """Make a widget disappear at once and delete it when the event loop comes round."""
    widget.hide()
    widget.deleteLater()
