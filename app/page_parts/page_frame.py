"""The frame of every place beside the chat: a title with its buttons, and a scrolling column of limited width."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.page_parts.labels import label
from app.theme.tokens import GRID

WIDEST = 900
"""Lines longer than this are hard to read; on a wide screen the column stays in the middle."""


class Column(QScrollArea):
    """A column that scrolls vertically, keeps to the middle, and never scrolls sideways.

    Attributes: `body`, the layout to fill.
    """

    def __init__(self, widest: int = WIDEST) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = QWidget()
        outer.setObjectName("page-column")
        middle = QHBoxLayout(outer)
        middle.setContentsMargins(2 * GRID, GRID, 2 * GRID, 2 * GRID)
        inner = QWidget()
        inner.setMaximumWidth(widest)
        self.body = QVBoxLayout(inner)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(GRID)
        middle.addStretch(1)
        middle.addWidget(inner, 1000)
        middle.addStretch(1)
        self._outer = outer
        self.setWidget(outer)
        outer.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What the column needs at least decides how narrow the area may get, so that nothing is cut off."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.setMinimumWidth(min(480, self._outer.minimumSizeHint().width()))
        return super().eventFilter(watched, event)


class PageFrame(QWidget):
    """A page with a title row. Attributes: `title_row` for buttons at the right, `column` below it."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        head = QWidget()
        self.title_row = QHBoxLayout(head)
        self.title_row.setContentsMargins(2 * GRID, GRID + 4, 2 * GRID, GRID)
        self.title_row.setSpacing(GRID)
        self.title: QLabel = label(title, "title")
        self.title_row.addWidget(self.title)
        self.title_row.addStretch(1)
        self.column.addWidget(head)
