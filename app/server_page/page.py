"""The Server page."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.context import AppContext
from app.i18n import tr


class ServerPage(QWidget):
    """The Server place."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        layout = QVBoxLayout(self)
        title = QLabel(tr("Server"), self)
        title.setProperty("role", "title")
        layout.addWidget(title)
        layout.addStretch(1)
