"""A plot the size of a word."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.theme import Theme


class Sparkline(QWidget):
    """The last values as a line on a soft area; a gap where nothing was measured.

    `ceiling` fixes the top of the scale (1.0 for shares); 0 follows the largest value.
    """

    def __init__(self, theme: Theme, length: int = 60, ceiling: float = 0.0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._ceiling = ceiling
        self._values: deque[float | None] = deque(maxlen=length)
        theme.changed.connect(self.update)

    def add(self, value: float | None) -> None:
        """One more value; drawn only while visible."""
        self._values.append(value)
        self.update()

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
        self.update()

    def sizeHint(self) -> QSize:
        """About as wide as a word."""
        return QSize(72, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the stretches between gaps."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1, 2, -1, -2)
        line = self._theme.color("plot_1")
        base = self._theme.color("line")
        painter.setPen(QPen(base, 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        area = self._theme.color("plot_1")
        area.setAlpha(50)
        for points in self._stretches(box):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(area)
            outline = [QPointF(points[0].x(), box.bottom()), *points, QPointF(points[-1].x(), box.bottom())]
            painter.drawPolygon(QPolygonF(outline))
            painter.setPen(QPen(line, 1.5))
            painter.drawPolyline(QPolygonF(points))
        painter.end()

    def _stretches(self, box: QRectF) -> list[list[QPointF]]:
        known = [value for value in self._values if value is not None]
        top = self._ceiling or max(known, default=0.0) * 1.1 or 1.0
        step = box.width() / max(1, (self._values.maxlen or 2) - 1)
        left = box.right() - step * (len(self._values) - 1)
        found: list[list[QPointF]] = [[]]
        for number, value in enumerate(self._values):
            if value is None:
                found.append([])
            else:
                height = box.height() * min(1.0, value / top)
                found[-1].append(QPointF(left + step * number, box.bottom() - height))
        return [points for points in found if len(points) > 1]
