"""The machine's memory as a bar whose expert cache can be dragged larger or smaller while the engine runs."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen

from app.i18n import tr
from app.telemetry.stacked_bar import Bar
from app.theme import Theme

STEP_SHARE = 0.02
GRAB_PIXELS = 12
HANDLE_WIDTH = 6


class MemoryBar(Bar):
    """The bar with a handle at the right end of the cache.

    Signals: `previewed(bytes)` while the handle moves; `chosen(bytes)` when it is let go, or a key set a size.
    """

    previewed = Signal(object)
    chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._total = 0
        self._cache = 0
        self._dragged: int | None = None
        self.adjustable = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Size of the expert cache, arrow keys change it"))

    @property
    def dragging(self) -> bool:
        """Whether a size is being chosen, during which live news would pull the handle away."""
        return self._dragged is not None

    def set_sizes(self, total: int, cache: int, adjustable: bool) -> None:
        """The machine's memory and the cache in bytes; `adjustable`: whether there is a cache to resize."""
        self._total, self._cache, self.adjustable = total, cache, adjustable and total > 0
        self.update()

    def handle_x(self) -> float | None:
        """Where the handle is, None without one."""
        if not self.adjustable:
            return None
        start = next((left for stretch, left, _ in self.edges() if stretch.key == "cache"), None)
        if start is None:
            return None
        cache = self._cache if self._dragged is None else self._dragged
        return min(float(self.width() - HANDLE_WIDTH), start + cache / self._total * self.width())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the handle."""
        x = self.handle_x()
        if (
            x is not None
            and event.button() == Qt.MouseButton.LeftButton
            and abs(event.position().x() - x) < GRAB_PIXELS
        ):
            self._dragged = self._cache
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag it, or show that it could be."""
        if self._dragged is not None:
            self._preview(self._size_at(event.position().x()))
        x = self.handle_x()
        near = x is not None and abs(event.position().x() - x) < GRAB_PIXELS
        self.setCursor(Qt.CursorShape.SplitHCursor if near or self.dragging else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let it go: the size is chosen."""
        if self._dragged is not None:
            size, self._dragged = self._dragged, None
            self._choose(size)
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys move by a fiftieth of the memory, Escape gives a drag up."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1}
        step = steps.get(Qt.Key(event.key()))
        if event.key() == Qt.Key.Key_Escape and self._dragged is not None:
            self._dragged = None
            self.update()
        elif step is not None and self.adjustable:
            self._choose(max(0, int(self._cache + step * STEP_SHARE * self._total)))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide it."""
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The stretches, and the handle over them."""
        super().paintEvent(event)
        x = self.handle_x()
        if x is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = self._theme.color("focus" if self.hasFocus() else "window")
        painter.setPen(QPen(outline, 2 if self.hasFocus() else 1))
        painter.setBrush(self._theme.color("text"))
        corner, size = QPointF(x - HANDLE_WIDTH / 2, 1), QPointF(x + HANDLE_WIDTH / 2, self.height() - 1)
        painter.drawRoundedRect(QRectF(corner, size), 3, 3)
        painter.end()

    def _size_at(self, x: float) -> int:
        start = next((left for stretch, left, _ in self.edges() if stretch.key == "cache"), 0.0)
        room = sum(one.share for one in self.stretches if one.key in ("cache", "free")) * self._total
        return int(min(max(0.0, (x - start) / max(1, self.width()) * self._total), room))

    def _preview(self, size: int) -> None:
        self._dragged = size
        self.previewed.emit(size)
        self.update()

    def _choose(self, size: int) -> None:
        self._cache = size
        self.chosen.emit(size)
        self.update()
