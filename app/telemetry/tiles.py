"""The top row: a large figure with its unit and a small plot of the last minutes, all on the same time axis."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from app.i18n import tr
from app.page_parts.figures_as_words import number_text
from app.page_parts.labels import label
from app.telemetry.figures import Figure
from app.telemetry.live import KEEP_S, RATE_HZ
from app.telemetry.plot_paint import placed, polygon, stretches, thinned
from app.telemetry.series import Array, Series
from app.theme import Theme
from app.theme.tokens import GRID

PLOT_HEIGHT = 44


class TinyPlot(QWidget):
    """Lines of one or more figures; several are stacked as areas that fill up to `top`."""

    def __init__(self, theme: Theme, series: Series, lines: tuple[tuple[str, str], ...], top: float = 0.0) -> None:
        super().__init__()
        self._theme, self._series, self._lines, self._top = theme, series, lines, top
        self.setFixedHeight(PLOT_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, False)

    def sizeHint(self) -> QSize:
        """Narrow tiles are fine."""
        return QSize(110, PLOT_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the series as they are now."""
        painter = QPainter(self)
        area = QRectF(self.rect()).adjusted(0.5, 2.5, -0.5, -1.5)
        painter.setPen(QPen(self._theme.color("plot_grid"), 1))
        painter.drawLine(QPointF(area.left(), area.bottom()), QPointF(area.right(), area.bottom()))
        if len(self._series) > 1:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            points = max(2, int(area.width() / 2))
            share = len(self._series) / (KEEP_S * RATE_HZ)
            values = [thinned(self._series.values(name), max(2, int(points * share))) for name, _ in self._lines]
            (self._stacked if len(values) > 1 else self._line)(painter, area, values, share)
        painter.end()

    def _line(self, painter: QPainter, area: QRectF, values: list[Array], share: float) -> None:
        finite = values[0][np.isfinite(values[0])]
        top = self._top or (float(finite.max()) * 1.1 if len(finite) else 1.0)
        x, y = placed(values[0], area, 0.0, top or 1.0, share)
        painter.setPen(QPen(self._theme.color(self._lines[0][1]), 1.5))
        for part in stretches(values[0]):
            if part.stop - part.start == 1:
                painter.drawPoint(QPointF(float(x[part.start]), float(y[part.start])))
            painter.drawPolyline(polygon(x[part], y[part]))

    def _stacked(self, painter: QPainter, area: QRectF, values: list[Array], share: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        lower = np.zeros(len(values[0]))
        for (_, token), one in zip(self._lines, values, strict=True):
            upper = lower + one
            x, low = placed(lower, area, 0.0, self._top, share)
            _, high = placed(upper, area, 0.0, self._top, share)
            painter.setBrush(self._theme.color(token))
            for part in stretches(upper):
                painter.drawPolygon(_area(x[part], low[part], high[part]))
            lower = upper


def _area(x: Array, low: Array, high: Array) -> QPolygonF:
    return polygon(np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]))


class BigNumber(QWidget):
    """A large figure and its unit. A label would have the whole page laid out again with every new figure."""

    def __init__(self, theme: Theme, unit: str) -> None:
        super().__init__()
        self._theme, self._unit = theme, unit
        self.text = "–"
        self._large = QFont()
        self._fit()
        theme.changed.connect(self._fit)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _fit(self) -> None:
        self._large = QFont(self.font())
        self._large.setPixelSize(self._theme.scaled(22))
        self._large.setWeight(QFont.Weight.DemiBold)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Room for four digits and the unit."""
        large = QFontMetrics(self._large)
        return QSize(large.horizontalAdvance("0000") + self.fontMetrics().horizontalAdvance(self._unit), large.height())

    def show_text(self, text: str) -> None:
        """Another figure."""
        if text != self.text:
            self.text = text
            self.setAccessibleDescription(f"{text} {self._unit}")
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Figure and unit on one base line."""
        painter = QPainter(self)
        base = QFontMetrics(self._large).ascent()
        painter.setFont(self._large)
        painter.setPen(self._theme.color("text"))
        painter.drawText(0, base, self.text)
        width = QFontMetrics(self._large).horizontalAdvance(self.text)
        painter.setFont(self.font())
        painter.setPen(self._theme.color("text_soft"))
        painter.drawText(width + GRID // 2, base, self._unit)
        painter.end()


class Tile(QFrame):
    """One figure. `value` is asked for at every refresh; NaN shows a dash."""

    def __init__(self, theme: Theme, figure: Figure, plot: TinyPlot | None, value: Callable[[], float]) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._figure, self._plot, self._value = figure, plot, value
        self._until_plot = 0
        self._number = BigNumber(theme, tr(figure.unit))
        title = label(tr(figure.title), "soft")
        title.setMinimumWidth(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID + 4, GRID, GRID + 4, GRID)
        column.setSpacing(2)
        column.addWidget(title)
        column.addWidget(self._number)
        if plot is not None:
            column.addWidget(plot)
        else:
            column.addStretch(1)
        self.setToolTip(tr(figure.help))
        self.setAccessibleName(tr(figure.title))

    def refresh(self) -> None:
        """Show the present value, and the plot as often as it would move by a pixel."""
        self._number.show_text(figure_text(self._value()))
        self._until_plot -= 1
        if self._plot is not None and self._until_plot <= 0:
            self._until_plot = int(KEEP_S * RATE_HZ) // max(1, self._plot.width())
            self._plot.update()


def figure_text(value: float) -> str:
    """A figure with as many digits as one can tell apart at a glance."""
    if math.isnan(value):
        return "–"
    return number_text(value, 0 if value >= 20 else 1 if value >= 1 else 2)
