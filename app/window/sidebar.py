"""The sidebar: conversations, then the other places."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.context import AppContext
from app.i18n import tr
from app.window.places import PLACES

WIDE, NARROW = 240, 56


class Sidebar(QWidget):
    """Buttons of the places; icons only when narrow."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self._context = context
        self._buttons: dict[str, QPushButton] = {}
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        for place in PLACES:
            button = QPushButton(tr(place.title), self)
            button.setProperty("kind", "quiet")
            button.setCheckable(True)
            button.setAccessibleName(tr(place.title))
            button.clicked.connect(lambda _=False, name=place.name: context.frame.show_place(name))
            layout.addWidget(button)
            self._buttons[place.name] = button
        self.set_narrow(False)

    def set_narrow(self, narrow: bool) -> None:
        """Icons only, or icons with words."""
        self.setFixedWidth(NARROW if narrow else WIDE)
        for place in PLACES:
            self._buttons[place.name].setText("" if narrow else tr(place.title))
            self._buttons[place.name].setIcon(self._context.theme.icon(place.icon))
