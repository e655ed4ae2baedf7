"""Starts the window: `main` is what `gannet` without arguments runs."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from app import APP_ID, APP_NAME
from app.engine_client import EngineClient
from app.faults import FaultLog
from app.files import config_folder, data_folder, log_folder
from app.i18n import choose_language, tr
from app.models.start import Library, make_library
from app.preferences import Preferences
from app.session import EngineSession
from app.store import Store
from app.store.schema import NewerStoreError
from app.tasks import cancel_all
from app.theme import Theme
from app.theme.icons import application_icon
from app.window.main_window import MainWindow
from app.window.single_instance import SingleInstance


@dataclass
class Program:
    """Everything that makes up the running program; `close` ends it in the right order."""

    window: MainWindow
    client: EngineClient
    session: EngineSession
    store: Store
    theme: Theme
    library: Library

    def begin(self) -> None:
        """After the window is up: start the engine, and say what was found broken."""
        for line in (self.session.preferences.note, *self.store.problems, *self.library.notes()):
            if line:
                self.window.notice("warn", line)
        self.session.begin()
        self.library.begin()

    def close(self) -> None:
        """Keep what was said so far, end the engine, finish background work, close the store."""
        self.window.finish()
        self.library.close()
        self.client.stop()
        cancel_all()
        self.store.close()


def build(application: QApplication, config: Path, data: Path, engine_command: Sequence[str] | None = None) -> Program:
    """Make the program from its folders; nothing is shown and no engine started yet."""
    choose_language()  # for a note about preferences that cannot be read
    preferences = Preferences(config / "preferences.json")
    choose_language(preferences["language"])
    theme = Theme(application, preferences["theme"], preferences["font_points"])
    theme.reduce_motion = preferences["reduce_motion"]
    store = Store(data / "conversations.sqlite")
    client = EngineClient(engine_command)
    session = EngineSession(client, preferences, client)
    library = make_library(session, config, data)
    window = MainWindow(client, session, preferences, theme, store, library)
    return Program(window, client, session, store, theme, library)


def main(arguments: Sequence[str] = ()) -> int:
    """Open the window and run until it is closed; returns the exit status."""
    application = QApplication([sys.argv[0], *arguments])
    application.setApplicationName(APP_NAME)
    application.setDesktopFileName(APP_ID)
    application.setWindowIcon(application_icon())
    instance = SingleInstance(data_folder())
    if not instance.claim():
        return 0
    try:
        program = build(application, config_folder(), data_folder())
    except (NewerStoreError, sqlite3.Error, OSError) as problem:
        return _cannot_start(str(problem))
    faults = FaultLog(log_folder() / "window.log", program.window.show_fault)
    faults.install()
    instance.raise_asked.connect(program.window.raise_window)
    program.window.show()
    QTimer.singleShot(0, program.begin)
    status = application.exec()
    program.close()
    faults.remove()
    instance.release()
    return status


def _cannot_start(why: str) -> int:
    """Say why there is no window, where a person looks for one; returns the exit status."""
    text = tr("Gannet cannot start: {why}").format(why=why)
    print(f"gannet: {text}", file=sys.stderr)
    QMessageBox.critical(None, APP_NAME, text)
    return 2
