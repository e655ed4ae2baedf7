"""A line one can open: thinking, tool calls."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.chat.prose import Prose
from app.theme import Theme


class Fold(QWidget):
    """A head line and a body that is made when it is first opened.

    Signals: `height_changed`; `toggled(open)`.
    """

    height_changed = Signal()
    toggled = Signal(bool)

    def __init__(self, theme: Theme, icon: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = icon
        self._pieces: list[str] = []
        self._body: Prose | None = None
        self.button = QPushButton(title, self)
        self.button.setProperty("kind", "fold")
        self.button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.button.setCheckable(True)
        theme.tint(self.button, icon)
        self.button.toggled.connect(self._toggle)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._column.addWidget(self.button)

    def set_title(self, title: str) -> None:
        """Change the head line."""
        self.button.setText(title)

    def append(self, text: str) -> None:
        """Add to the body; costs nothing while it is closed."""
        self._pieces.append(text)
        if self._body is not None:
            self._body.append_plain(text, "text_soft")

    def text(self) -> str:
        """The whole body."""
        return "".join(self._pieces)

    @property
    def open(self) -> bool:
        """Whether the body is shown."""
        return self.button.isChecked()

    def set_open(self, is_open: bool) -> None:
        """Show or hide the body."""
        self.button.setChecked(is_open)

    def _toggle(self, is_open: bool) -> None:
        if is_open and self._body is None:
            self._body = Prose(self._theme, self)
            self._body.setContentsMargins(24, 0, 0, 0)
            self._body.height_changed.connect(self.height_changed)
            self._column.addWidget(self._body)
            self._body.append_plain("".join(self._pieces), "text_soft")
        if self._body is not None:
            self._body.setVisible(is_open)
        self._theme.tint(self.button, "down" if is_open else self._icon)
        self.updateGeometry()
        self.height_changed.emit()
        self.toggled.emit(is_open)
