"""A model file that the system hands over: on the command line, from a second start, or by macOS's own event."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from app.i18n import tr

if TYPE_CHECKING:
    from app.window.main_window import MainWindow

ENDING = ".gguf"


def files_of(arguments: Sequence[str]) -> list[str]:
    """The files a command line names, as absolute paths: a second start may have another working folder."""
    return [str(Path(one).absolute()) for one in arguments if one and not one.startswith("-")]


class Application(QApplication):
    """Qt's application, which macOS tells by an event that a file was double-clicked.

    Signals: `opened(path)`.
    """

    opened = Signal(str)

    def event(self, event: QEvent) -> bool:
        """Take the event that names a file; a filter would be asked about every event of every widget."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.opened.emit(event.file())
            return True
        return super().event(event)


def open_file(window: MainWindow, path: str) -> None:
    """Bring the window to the front and load the model file; a file that is none is said to be so."""
    file = Path(path)
    window.raise_window()
    if not file.is_file():
        window.notice("bad", tr("There is no file {path}.").format(path=path))
    elif file.suffix.lower() != ENDING:
        text = tr("{name} is no model file: Gannet opens files whose names end in .gguf.")
        window.notice("bad", text.format(name=file.name))
    else:
        window.context.session.use_model(str(file))
        window.show_place("chat")
