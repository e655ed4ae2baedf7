"""Own SVG icons: 24-unit grid, 1.5-unit strokes, drawn in `currentColor` and tinted at run time."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

ICON_FOLDER = Path(__file__).parent / "icons"
_SIZES = (16, 20, 24, 32, 48, 64)


def names() -> list[str]:
    """Every icon there is."""
    return sorted(path.stem for path in ICON_FOLDER.glob("*.svg") if path.stem not in ("gannet", "tick"))


def icon(name: str, color: QColor, disabled: QColor) -> QIcon:
    """Icon `name` in `color`, in `disabled` while its button is off. Raises FileNotFoundError for an unknown name."""
    result = QIcon()
    for size in _SIZES:
        result.addPixmap(pixmap(name, size, color), QIcon.Mode.Normal)
        result.addPixmap(pixmap(name, size, disabled), QIcon.Mode.Disabled)
    return result


def pixmap(name: str, size: int, color: QColor) -> QPixmap:
    """Icon `name` as a square pixmap of `size` physical pixels."""
    svg = _source(name).replace("currentColor", color.name())
    return _render(svg, size)


def application_icon() -> QIcon:
    """The diving gannet at every size a desktop asks for."""
    result = QIcon()
    svg = _source("gannet")
    for size in (16, 24, 32, 48, 64, 128, 256):
        result.addPixmap(_render(svg, size))
    return result


@cache
def _source(name: str) -> str:
    return (ICON_FOLDER / f"{name}.svg").read_text(encoding="utf-8")


def _render(svg: str, size: int) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(svg.encode("utf-8")))
    image = QPixmap(QSize(size, size))
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return image
