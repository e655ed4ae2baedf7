"""Starts the window: `main` is what `gannet` without arguments runs."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QLocale, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from app import APP_ID, APP_NAME
from app.engine_client import EngineClient
from app.faults import FaultLog
from app.files import config_folder, data_folder, log_folder
from app.i18n import choose_language, tr
from app.models.start import Library, make_library
from app.newer import DATABASE, NewerFileError, refuse_newer
from app.preferences import Preferences
from app.session import EngineSession
from app.store import Store
from app.tasks import cancel_all
from app.theme import Theme
from app.theme.icons import application_icon
from app.window.file_opening import Application, files_of, open_file
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

    def begin(self, files: Sequence[str] = ()) -> None:
        """After the window is up: start the engine, load the model of `files`, and say what was found broken."""
        for line in (self.session.preferences.note, *self.store.problems, *self.library.notes()):
            if line:
                self.window.notice("warn", line)
        self.session.begin()
        self.library.begin()
        for file in files:
            open_file(self.window, file)
        if self.window.place == "chat":
            self.window.context.actions["edit.focus"].trigger()  # one can type at once

    def close(self) -> None:
        """Keep what was said so far, end the engine, finish background work, close the store."""
        self.window.finish()
        self.library.close()
        self.client.stop()
        cancel_all()
        self.store.close()


def build(application: QApplication, config: Path, data: Path, engine_command: Sequence[str] | None = None) -> Program:
    """Make the program from its folders; nothing is shown and no engine started yet.

    Raises `NewerFileError` before anything is written, `sqlite3.Error` and `OSError` where the folders cannot be used.
    """
    choose_language()  # for a note about preferences that cannot be read
    refuse_newer(config, data)
    preferences = Preferences(config / "preferences.json")
    QLocale.setDefault(QLocale(choose_language(preferences["language"])))  # the marks in number fields
    theme = Theme(application, preferences["theme"], preferences["font_points"])
    theme.reduce_motion = preferences["reduce_motion"]
    store = Store(data / DATABASE)
    client = EngineClient(engine_command)
    session = EngineSession(client, preferences, client)
    library = make_library(session, config, data)
    window = MainWindow(client, session, preferences, theme, store, library)
    return Program(window, client, session, store, theme, library)


def main(arguments: Sequence[str] = ()) -> int:
    """Open the window and run until it is closed; `arguments` may name a model file. Returns the exit status."""
    application = Application([sys.argv[0], *arguments])
    application.setApplicationName(APP_NAME)
    application.setDesktopFileName(APP_ID)
    application.setWindowIcon(application_icon())
    files = files_of(application.arguments()[1:])
    instance = SingleInstance(data_folder())
    if not instance.claim(files):
        return 0
    try:
        program = build(application, config_folder(), data_folder())
    except (NewerFileError, sqlite3.Error, OSError) as problem:
        instance.release()
        return _cannot_start(str(problem))
    faults = FaultLog(log_folder() / "window.log", program.window.show_fault)
    faults.install()
    instance.raise_asked.connect(program.window.raise_window)
    instance.open_asked.connect(lambda path: open_file(program.window, path))
    application.opened.connect(lambda path: open_file(program.window, path))
    program.window.show()
    QTimer.singleShot(0, lambda: program.begin(files))
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
