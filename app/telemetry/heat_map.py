"""The heat map: layers down, experts across, brightness for use, an outline for what is in memory now."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QSize
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.i18n import tr
from app.page_parts.figures_as_words import number_text
from app.telemetry.expert_grid import Cell, ExpertGrid
from app.theme import Theme

LEAST_CELL_HEIGHT, MOST_CELL_HEIGHT = 5, 14
OUTLINE_FROM = 4
"""Cells narrower than this many pixels have no room for an outline: what is resident is drawn in the accent instead."""
LEVELS = 64


class HeatMap(QWidget):
    """Draws a grid. The picture is made once per grid, size and theme; painting only copies it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._grid: ExpertGrid | None = None
        self._image: QImage | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Heat map of the experts"))
        theme.changed.connect(self._forget)

    def show_grid(self, grid: ExpertGrid | None) -> None:
        """Draw this grid from now on."""
        if grid is None or self._grid is None or grid.layers != self._grid.layers:
            self.updateGeometry()
        self._grid = grid
        self._forget()

    def sizeHint(self) -> QSize:
        """Rows as high as the number of layers allows."""
        if self._grid is None:
            return QSize(320, 80)
        height = min(MOST_CELL_HEIGHT, max(LEAST_CELL_HEIGHT, 420 // self._grid.layers))
        return QSize(320, self._grid.layers * height)

    @property
    def outlines(self) -> bool:
        """Whether cells are large enough for outlines."""
        return self._grid is not None and self.width() / max(1, self._grid.experts) >= OUTLINE_FROM

    def cell_at(self, position: QPoint) -> Cell | None:
        """The expert under a position."""
        if self._grid is None or not self.rect().contains(position):
            return None
        row = position.y() * self._grid.layers // max(1, self.height())
        column = position.x() * self._grid.experts // max(1, self.width())
        return self._grid.cell(row, column)

    def cell_text(self, cell: Cell) -> str:
        """What hovering says."""
        lines = [
            tr("Layer {layer}, expert {expert}").format(layer=cell.layer, expert=cell.expert),
            tr("Used {n} times, {share} % of its layer").format(n=cell.uses, share=number_text(100 * cell.share)),
            tr("Last used by token {n}").format(n=cell.last_use) if cell.last_use >= 0 else tr("Not used yet"),
            tr("In memory now") if cell.resident else tr("On the SSD"),
        ]
        return "\n".join(lines)

    def event(self, event: QEvent) -> bool:
        """The tooltip is that of the cell under the pointer."""
        if isinstance(event, QHelpEvent):
            cell = self.cell_at(event.pos())
            QToolTip.showText(event.globalPos(), self.cell_text(cell) if cell else "", self)
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another size needs another picture."""
        super().resizeEvent(event)
        self._image = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Copy the picture."""
        if self._grid is None:
            return
        if self._image is None:
            ratio = self.devicePixelRatio()
            pixels = self._pixels(self._grid, int(self.width() * ratio), int(self.height() * ratio))
            height, width = pixels.shape
            image = QImage(pixels.tobytes(), width, height, 4 * width, QImage.Format.Format_RGB32)
            self._image = image.copy()
            self._image.setDevicePixelRatio(ratio)
        painter = QPainter(self)
        painter.drawImage(0, 0, self._image)
        painter.end()

    def _forget(self) -> None:
        self._image = None
        self.update()

    def _pixels(self, grid: ExpertGrid, width: int, height: int) -> NDArray[np.uint32]:
        """The picture as 0xffRRGGBB, (height, width)."""
        level = np.rint(grid.brightness() * (LEVELS - 1)).astype(np.intp)
        resident = grid.shown_resident()
        cold = _ramp(self._theme.color("panel"), self._theme.color("plot_2"))
        colours = cold[level]
        if not self.outlines:
            warm = _ramp(self._theme.color("line"), self._theme.color("plot_1"))
            colours = np.where(resident, warm[level], colours)
        rows = np.arange(height) * grid.layers // max(1, height)
        columns = np.arange(width) * grid.experts // max(1, width)
        pixels: NDArray[np.uint32] = colours[rows[:, None], columns[None, :]]
        if self.outlines:
            edge_rows = np.concatenate([[True], rows[1:] != rows[:-1]])
            edge_rows |= np.concatenate([rows[1:] != rows[:-1], [True]])
            edge_columns = np.concatenate([[True], columns[1:] != columns[:-1]])
            edge_columns |= np.concatenate([columns[1:] != columns[:-1], [True]])
            outline = (edge_rows[:, None] | edge_columns[None, :]) & resident[rows[:, None], columns[None, :]]
            pixels = np.where(outline, _rgb(self._theme.color("plot_1")), pixels)
        return np.ascontiguousarray(pixels, dtype=np.uint32)


def _ramp(low: QColor, high: QColor) -> NDArray[np.uint32]:
    """LEVELS colours from low to high."""
    share = np.linspace(0.0, 1.0, LEVELS)[:, None]
    ends = np.array([[c.red(), c.green(), c.blue()] for c in (low, high)], dtype=np.float64)
    mixed = np.rint(ends[0] * (1 - share) + ends[1] * share).astype(np.uint32)
    made: NDArray[np.uint32] = (0xFF << 24) | (mixed[:, 0] << 16) | (mixed[:, 1] << 8) | mixed[:, 2]
    return made.astype(np.uint32)


def _rgb(colour: QColor) -> np.uint32:
    return np.uint32((0xFF << 24) | (colour.red() << 16) | (colour.green() << 8) | colour.blue())
