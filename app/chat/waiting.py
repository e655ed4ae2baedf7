"""The line between messages and composer: why there is no answer yet."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.i18n import tr


class Waiting(QWidget):
    """Says that an answer waits for the model, or offers to answer a question that has none.

    Signals: `answer_asked`.
    """

    answer_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = QLabel(self)
        self._label.setProperty("role", "soft")
        self._label.setWordWrap(True)
        self.button = QPushButton(tr("Answer now"), self)
        self.button.clicked.connect(self.answer_asked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._label, 1)
        row.addWidget(self.button)
        self.hide()

    def show_state(self, waiting: bool, unanswered: bool) -> None:
        """Show what applies, or nothing."""
        text = tr("Your message is answered as soon as the model is loaded.") if waiting else tr("Not answered yet.")
        self._label.setText(text)
        self.button.setVisible(unanswered)
        self.setVisible(waiting or unanswered)
