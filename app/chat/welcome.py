"""What an empty chat shows, and the one line about the demo model."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.context import AppContext
from app.i18n import tr
from app.theme.icons import application_icon

ICON = 72


class Welcome(QWidget):
    """An empty chat: what could be here."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.addStretch(2)
        icon = QLabel(self)
        icon.setPixmap(application_icon().pixmap(ICON, ICON))
        icon.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(icon)
        column.addSpacing(8)
        title = QLabel(tr("What is on your mind?"), self)
        title.setProperty("role", "title")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(title)
        text = QLabel(tr("Everything stays on this computer."), self)
        text.setProperty("role", "soft")
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(text)
        column.addStretch(3)


class DemoNote(QFrame):
    """One line: what the demo model is, and a way to a real one."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "notice")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 6, 6)
        label = QLabel(
            tr("Built-in demo model: tiny, its cache small on purpose, so you can watch experts come from the SSD."),
            self,
        )
        label.setWordWrap(True)
        row.addWidget(label, 1)
        button = QPushButton(tr("Get a real model"), self)
        button.setProperty("kind", "primary")
        button.clicked.connect(lambda: context.frame.show_place("models"))
        row.addWidget(button)
