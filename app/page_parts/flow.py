"""A layout that fills lines from the left and wraps, as words do. (After Qt's own flow layout example.)"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem

from app.page_parts.labels import discard


class Flow(QLayout):
    """Widgets in lines; every widget keeps its size hint, hidden ones take no room."""

    def __init__(self, spacing: int = 8) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}  # by width, until an item wants another size
        self._gap = spacing
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item."""
        self._items.append(item)
        self._heights.clear()

    def count(self) -> int:
        """Number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Item at a position, None outside."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item, None outside."""
        self._heights.clear()
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def clear(self) -> None:
        """Remove and delete every widget."""
        for item in self._items:
            widget = item.widget()
            if widget is not None:
                discard(widget)
        self._items.clear()
        self._heights.clear()

    def expandingDirections(self) -> Qt.Orientation:
        """It asks for no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Narrower means more lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height that this width needs."""
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def invalidate(self) -> None:
        """An item wants another size: what is known of heights is no longer true."""
        self._heights.clear()
        super().invalidate()

    def setGeometry(self, rect: QRect) -> None:
        """Lay the items out."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """One item wide at least."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """The largest single item."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Fill lines with what is not hidden, each item in the middle of its line's height; returns the height."""
        y = rect.y()
        for line in self._lines(rect.width()):
            height = max(hint.height() for _, hint in line)
            x = rect.x()
            for item, hint in line:
                if move:
                    item.setGeometry(QRect(QPoint(x, y + (height - hint.height()) // 2), hint))
                x += hint.width() + self._gap
            y += height + self._gap // 2
        return max(0, y - self._gap // 2 - rect.y())

    def _lines(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        """The items of each line with the size they want."""
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        room = 0
        for item in self._items:
            if item.isEmpty():  # hidden
                continue
            hint = item.sizeHint()
            if not lines or hint.width() > room:
                lines.append([])
                room = width
            lines[-1].append((item, hint))
            room -= hint.width() + self._gap
        return lines
