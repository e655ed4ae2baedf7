"""Draws the application's icon from its SVG in every form a system asks for: PNG files, an ICO and an ICNS.

`python -m installer.icons SVG FOLDER` runs in the packaging environment, which has Qt to draw and Pillow to pack.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

PNG_SIZES = (16, 24, 32, 48, 64, 128, 256, 512, 1024)
ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
NAME = "gannet"


def draw(svg: Path, folder: Path) -> None:
    """Write `gannet-SIZE.png`, `gannet.svg`, `gannet.ico` and `gannet.icns` into `folder`."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QRectF, Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication([])
    folder.mkdir(parents=True, exist_ok=True)
    renderer = QSvgRenderer(str(svg))
    for size in PNG_SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter, QRectF(0, 0, size, size))
        painter.end()
        image.save(str(folder / f"{NAME}-{size}.png"))
    del application
    shutil.copyfile(svg, folder / f"{NAME}.svg")
    pack(folder)


def pack(folder: Path) -> None:
    """Make the containers for Windows and macOS from the PNG files."""
    from PIL import Image

    pictures = {size: Image.open(folder / f"{NAME}-{size}.png") for size in PNG_SIZES}
    largest = pictures[256]
    others = [pictures[size] for size in ICO_SIZES if size != 256]
    sizes = [(size, size) for size in ICO_SIZES]
    largest.save(folder / f"{NAME}.ico", sizes=sizes, append_images=others, bitmap_format="bmp")
    apples = [pictures[size] for size in (32, 64, 128, 256, 512)]
    pictures[1024].save(folder / f"{NAME}.icns", append_images=apples)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
