"""The wizard's two charts: the drive's rate by queue depth, and every candidate's runs as dots."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.i18n import tr
from app.page_parts.axis import round_ticks, spread_apart
from app.page_parts.figures_as_words import number_text, rate_text
from app.theme import Theme
from app.wizard.phrases import name_in_words
from app.wizard.progress import ArmRow, DriveDot

DRIVE_HEIGHT = 160
ROW_HEIGHT = 26
LEFT, BOTTOM, RIGHT, TOP = 76, 22, 12, 8
LABELS = 68
"""Room for the sizes at the ends of the drive's lines."""
LINE_TOKENS = ("plot_1", "plot_2", "plot_3", "plot_4")
STATE_WORDS = {
    "waiting": "not measured yet",
    "running": "being measured",
    "dropped": "slower, dropped",
    "kept": "measured to the end",
    "chosen": "the best one",
    "skipped": "no time was left for it",
    "crashed": "it crashed",
    "wrong": "other answers, not used",
}
"""Source texts for the tuner's words."""


class DriveChart(QWidget):
    """Rate (up) by queue depth (across, doubling); one line per read size."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.points: list[DriveDot] = []
        self.setAccessibleName(tr("Drive rate by queue depth"))
        theme.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(self._theme.scaled(DRIVE_HEIGHT))
        self.update()

    def show_points(self, points: list[DriveDot]) -> None:
        """Draw these."""
        if points != self.points:
            self.points = list(points)
            best = max((one.bytes_s for one in points), default=0.0)
            self.setAccessibleDescription(tr("At most {rate}").format(rate=rate_text(best)) if best else "")
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Axes, then a line with dots per read size."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, right, bottom = (self._theme.scaled(one) for one in (LEFT, LABELS, BOTTOM))
        area = QRectF(left, TOP, max(1, self.width() - left - right), self.height() - TOP - bottom)
        ticks = round_ticks(max((one.bytes_s for one in self.points), default=1e9), about=3)
        top, deepest = ticks[-1], max(32, max((one.queue_depth for one in self.points), default=32))
        self._axes(painter, area, ticks, deepest)
        ends: list[tuple[str, str, float]] = []
        for at, size in enumerate(sorted({one.read_bytes for one in self.points})):
            dots = sorted((one for one in self.points if one.read_bytes == size), key=lambda one: one.queue_depth)
            token = LINE_TOKENS[at % len(LINE_TOKENS)]
            self._line(painter, area, top, deepest, dots, token)
            ends.append((read_size_text(size), token, area.bottom() - dots[-1].bytes_s / top * area.height()))
        self._labels(painter, area, ends)
        painter.end()

    def _labels(self, painter: QPainter, area: QRectF, ends: list[tuple[str, str, float]]) -> None:
        """Each line says at its end how large its reads are."""
        height = painter.fontMetrics().height()
        low, high = area.top() + height / 2, area.bottom() - height / 2
        for (text, token, _), y in zip(ends, spread_apart([end for *_, end in ends], height, low, high), strict=True):
            painter.setPen(self._theme.color(token))
            box = QRectF(area.right() - 4, y - height / 2, self._theme.scaled(LABELS), height)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def _axes(self, painter: QPainter, area: QRectF, ticks: tuple[float, ...], deepest: int) -> None:
        metrics = painter.fontMetrics()
        for tick in ticks:
            y = area.bottom() - tick / ticks[-1] * area.height()
            painter.setPen(QPen(self._theme.color("plot_grid"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(self._theme.color("text_soft"))
            text = rate_text(tick) if tick else "0"
            box = QRectF(0, y - metrics.height() / 2, area.left() - 8, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        depth = 1
        while depth <= deepest:
            x = _depth_x(area, depth, deepest)
            box = QRectF(x - 20, area.bottom() + 4, 40, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, str(depth))
            depth *= 2

    def _line(
        self, painter: QPainter, area: QRectF, top: float, deepest: int, dots: list[DriveDot], token: str
    ) -> None:
        places = [
            QPointF(_depth_x(area, one.queue_depth, deepest), area.bottom() - one.bytes_s / top * area.height())
            for one in dots
        ]
        painter.setPen(QPen(self._theme.color(token), 2))
        painter.drawPolyline(places)
        painter.setBrush(self._theme.color(token))
        painter.setPen(Qt.PenStyle.NoPen)
        for place in places:
            painter.drawEllipse(place, 4, 4)


class ArmsChart(QWidget):
    """A row per candidate: every run a dot, the middle a bar with its spread; defaults and winner are marked."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.arms: tuple[ArmRow, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Speed of every candidate"))
        theme.changed.connect(self._fit)

    @property
    def _row_height(self) -> int:
        return self._theme.scaled(ROW_HEIGHT)

    def _fit(self) -> None:
        self.updateGeometry()
        self.update()

    def show_arms(self, arms: tuple[ArmRow, ...]) -> None:
        """Draw these."""
        if arms != self.arms:
            if len(arms) != len(self.arms):
                self.updateGeometry()
            self.arms = arms
            self.setAccessibleDescription("; ".join(arm_words(one) for one in arms))
            self.update()

    def sizeHint(self) -> QSize:
        """A row for each, and the axis."""
        return QSize(320, max(1, len(self.arms)) * self._row_height + self._theme.scaled(BOTTOM))

    def minimumSizeHint(self) -> QSize:
        """It may get narrow, not low."""
        return QSize(200, self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        """The tooltip is that of the row under the pointer."""
        if isinstance(event, QHelpEvent):
            at = event.pos().y() // self._row_height
            text = arm_words(self.arms[at]) if 0 <= at < len(self.arms) else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Names at the left, dots at the right."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        names, high = min(self._theme.scaled(260), int(self.width() * 0.42)), self._row_height
        area = QRectF(names + 8, 0, max(1, self.width() - names - 8 - RIGHT), len(self.arms) * high)
        largest = max((run for one in self.arms for run in (*one.runs, one.high) if not math.isnan(run)), default=1.0)
        ticks = round_ticks(largest)
        top = ticks[-1]
        self._axis(painter, area, ticks)
        for at, one in enumerate(self.arms):
            self._row(painter, QRectF(area.left(), at * high, area.width(), high), one, top, names)
        painter.end()

    def _axis(self, painter: QPainter, area: QRectF, ticks: tuple[float, ...]) -> None:
        height = painter.fontMetrics().height()
        for tick in ticks:
            x = area.left() + tick / ticks[-1] * area.width()
            painter.setPen(QPen(self._theme.color("plot_grid"), 1))
            painter.drawLine(QPointF(x, 0), QPointF(x, area.bottom()))
            painter.setPen(self._theme.color("text_soft"))
            last = tick == ticks[-1]
            text = number_text(tick, 2) + (f" {tr('tok/s')}" if last else "")
            wide = self._theme.scaled(90 if last else 30)
            box = QRectF(x - wide, area.bottom() + 3, wide + RIGHT if last else 2 * wide, height)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight if last else Qt.AlignmentFlag.AlignHCenter, text)

    def _row(self, painter: QPainter, box: QRectF, one: ArmRow, top: float, names: int) -> None:
        chosen = one.state == "chosen"
        faint = one.state in ("dropped", "crashed", "wrong", "waiting", "skipped")
        font = painter.font()
        font.setBold(chosen)
        painter.setFont(font)
        painter.setPen(self._theme.color("text_soft" if faint else "text"))
        text = painter.fontMetrics().elidedText(
            _mark(one) + name_in_words(one.name), Qt.TextElideMode.ElideRight, names
        )
        painter.drawText(QRectF(0, box.top(), names, box.height()), Qt.AlignmentFlag.AlignVCenter, text)
        font.setBold(False)
        painter.setFont(font)
        colour = self._theme.color("plot_1" if chosen else "plot_2" if one.default else "line_strong")
        y = box.center().y()
        if not one.measured and one.state in ("skipped", "crashed", "wrong"):
            painter.setPen(self._theme.color("text_soft"))
            inside = box.adjusted(4, 0, 0, 0)
            words = painter.fontMetrics().elidedText(
                tr(STATE_WORDS[one.state]), Qt.TextElideMode.ElideRight, int(inside.width())
            )
            painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter, words)
        if not math.isnan(one.low) and not math.isnan(one.high):
            painter.setPen(QPen(colour, 2))
            painter.drawLine(QPointF(_speed_x(box, one.low, top), y), QPointF(_speed_x(box, one.high, top), y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for run in one.runs:
            painter.drawEllipse(QPointF(_speed_x(box, run, top), y), 3, 3)
        if not math.isnan(one.middle):
            painter.drawRect(QRectF(_speed_x(box, one.middle, top) - 1.5, y - 8, 3, 16))


def _mark(one: ArmRow) -> str:
    if one.state == "chosen":
        return "✓ "
    if one.state in ("crashed", "wrong"):
        return "✕ "
    return "◆ " if one.default else "– " if one.state == "skipped" else ""


def read_size_text(nbytes: int) -> str:
    """The size of a read as drives count it: "128 KiB", "2 MiB"."""
    return f"{nbytes >> 20} MiB" if nbytes >= 1 << 20 else f"{max(1, nbytes >> 10)} KiB"


def arm_words(one: ArmRow) -> str:
    """A candidate in words, for tooltips and screen readers."""
    words = tr(STATE_WORDS.get(one.state, one.state))
    if one.error:
        words = f"{words}: {one.error}"
    name = name_in_words(one.name)
    if math.isnan(one.middle):
        return f"{name}: {words}"
    return tr("{name}: {speed} tok/s, {state}").format(name=name, speed=number_text(one.middle), state=words)


def _depth_x(area: QRectF, depth: int, deepest: int) -> float:
    return area.left() + 12 + math.log2(max(1, depth)) / math.log2(deepest) * (area.width() - 24)


def _speed_x(box: QRectF, speed: float, top: float) -> float:
    return box.left() + max(0.0, speed) / top * box.width()
