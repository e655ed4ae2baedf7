"""A horizontal bar of named stretches with a legend: hover tells a stretch's figures."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from app.page_parts.flow import Flow
from app.page_parts.labels import label, row
from app.theme import Theme
from app.theme.tokens import GRID

BAR_HEIGHT = 28


@dataclass(frozen=True)
class Stretch:
    """One part of the bar: share 0..1 of the whole, colour token, name and figure (legend), sentence (hover)."""

    key: str
    share: float
    token: str
    name: str
    figure: str
    help: str


class Bar(QWidget):
    """The bar itself."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.stretches: tuple[Stretch, ...] = ()
        self.setFixedHeight(BAR_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(320, BAR_HEIGHT)

    def show_stretches(self, stretches: tuple[Stretch, ...]) -> None:
        """Draw these from now on."""
        if stretches != self.stretches:
            self.stretches = stretches
            self.update()

    def edges(self) -> list[tuple[Stretch, float, float]]:
        """Every stretch with its left and right edge in pixels."""
        found, left = [], 0.0
        for stretch in self.stretches:
            right = left + stretch.share * self.width()
            found.append((stretch, left, right))
            left = right
        return found

    def at(self, x: float) -> Stretch | None:
        """The stretch under a position."""
        return next((stretch for stretch, left, right in self.edges() if left <= x < right), None)

    def event(self, event: QEvent) -> bool:
        """The tooltip is that of the stretch under the pointer."""
        if isinstance(event, QHelpEvent):
            found = self.at(event.pos().x())
            text = f"{found.name}: {found.figure}\n{found.help}" if found else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Stretches side by side, with a thin gap so that neighbours differ without colour too."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if not self.stretches:
            painter.setBrush(self._theme.color("pressed"))
            painter.drawRoundedRect(QRectF(self.rect()), 4, 4)
        for stretch, left, right in self.edges():
            painter.setBrush(self._theme.color(stretch.token))
            painter.drawRoundedRect(QRectF(QPointF(left, 0), QPointF(max(left + 1, right - 2), self.height())), 3, 3)
        painter.end()


class StackedBar(QWidget):
    """A bar with a legend below it that wraps where there is little room. Attribute: `bar`."""

    def __init__(self, theme: Theme, bar: Bar | None = None) -> None:
        super().__init__()
        self._theme = theme
        self.bar = bar or Bar(theme)
        self._legend: dict[str, tuple[QLabel, QLabel]] = {}
        self._flow = Flow(spacing=2 * GRID)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.bar)
        column.addLayout(self._flow)
        theme.changed.connect(self._recolour)

    def show_stretches(self, stretches: tuple[Stretch, ...]) -> None:
        """Show these; the legend keeps its labels as long as the keys stay."""
        self.bar.show_stretches(stretches)
        if [one.key for one in stretches] != list(self._legend):
            self._make_legend(stretches)
        for stretch in stretches:
            text = f"{stretch.name}  {stretch.figure}"
            words = self._legend[stretch.key][1]
            if words.text() != text:
                words.setText(text)
                words.setToolTip(stretch.help)

    def _make_legend(self, stretches: tuple[Stretch, ...]) -> None:
        self._flow.clear()
        self._legend = {}
        for stretch in stretches:
            mark, words = label("■"), label("", "soft")
            holder = QWidget()

            holder.setLayout(row(mark, words, spacing=6))
            self._flow.addWidget(holder)
            self._legend[stretch.key] = (mark, words)
        self._recolour()

    def _recolour(self) -> None:
        for stretch in self.bar.stretches:
            if stretch.key in self._legend:
                colour = self._theme.color(stretch.token).name()
                self._legend[stretch.key][0].setStyleSheet(f"color: {colour};")
        self.bar.update()
