"""The states of a page that has nothing to show: empty, loading, error. What it is, what now, one button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.page_parts.labels import label, set_role
from app.theme import Theme
from app.theme.tokens import GRID

ICON_SIZE = 40
WIDEST = 420
PROGRESS_WIDTH = 280


class StateView(QWidget):
    """A picture, a heading, a sentence, a progress bar when something is under way, and one button at most."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._slot: Callable[[], object] | None = None
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._heading = label("", "heading")
        self._text = label("", "soft", wrap=True)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._button = QPushButton()
        self._button.clicked.connect(self._pressed)
        self._lay_out()

    def empty(
        self, icon: str, heading: str, text: str, button: str = "", slot: Callable[[], object] | None = None
    ) -> None:
        """What could be here, and how to get it."""
        self._show(icon, "text_soft", heading, text, button, slot)
        self._progress.hide()

    def loading(self, heading: str, text: str = "", share: float | None = None, button: str = "",
                slot: Callable[[], object] | None = None) -> None:  # fmt: skip
        """What is under way, how far (0..1; None: unknown), and how to cancel it."""
        self._show("clock", "text_soft", heading, text, button, slot)
        self._progress.setRange(0, 0 if share is None else 1000)
        self._progress.setValue(0 if share is None else int(share * 1000))
        self._progress.show()

    def error(self, heading: str, text: str, button: str = "", slot: Callable[[], object] | None = None) -> None:
        """What is wrong, why, and one button that helps."""
        self._show("error", "bad", heading, text, button, slot)
        self._progress.hide()

    def _show(
        self, icon: str, token: str, heading: str, text: str, button: str, slot: Callable[[], object] | None
    ) -> None:
        self._theme.tint(self._icon, icon, token, ICON_SIZE)
        self._heading.setText(heading)
        set_role(self._heading, "bad" if token == "bad" else "heading")
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self._button.setText(button)
        self._button.setVisible(bool(button))
        self._slot = slot

    def _pressed(self) -> None:
        if self._slot is not None:
            self._slot()

    def _in_the_middle(self, widget: QWidget, widest: int) -> QHBoxLayout:
        widget.setMaximumWidth(widest)
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(widget, 1000)
        line.addStretch(1)
        return line

    def _lay_out(self) -> None:
        self._heading.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addStretch(2)
        column.addWidget(self._icon)
        column.addWidget(self._heading)
        # an aligned item gets no height for its width, and a wrapped text would lose its second line
        self._progress.setFixedWidth(PROGRESS_WIDTH)
        column.addLayout(self._in_the_middle(self._text, WIDEST))
        column.addWidget(self._progress, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(GRID)
        column.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
