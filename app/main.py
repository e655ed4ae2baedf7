"""Starts the window: `main` is what `gannet` without arguments runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import APP_ID, APP_NAME
from app.engine_client import EngineClient
from app.files import config_folder, data_folder
from app.i18n import choose_language
from app.preferences import Preferences
from app.session import EngineSession
from app.store import Store
from app.tasks import cancel_all
from app.theme import Theme
from app.theme.icons import application_icon
from app.window.main_window import MainWindow


@dataclass
class Program:
    """Everything that makes up the running program; `close` ends it in the right order."""

    window: MainWindow
    client: EngineClient
    session: EngineSession
    store: Store
    theme: Theme

    def close(self) -> None:
        """End the engine, finish background work, write and close the store."""
        self.client.stop()
        cancel_all()
        self.store.close()


def build(application: QApplication, config: Path, data: Path, engine_command: Sequence[str] | None = None) -> Program:
    """Make the program from its folders; nothing is shown and no engine started yet."""
    preferences = Preferences(config / "preferences.json")
    choose_language(preferences["language"])
    theme = Theme(application, preferences["theme"], preferences["font_points"])
    theme.reduce_motion = preferences["reduce_motion"]
    store = Store(data / "conversations.sqlite")
    client = EngineClient(engine_command)
    session = EngineSession(client, preferences, client)
    window = MainWindow(client, session, preferences, theme, store)
    return Program(window, client, session, store, theme)


def main(arguments: Sequence[str] = ()) -> int:
    """Open the window and run until it is closed; returns the exit status."""
    application = QApplication([sys.argv[0], *arguments])
    application.setApplicationName(APP_NAME)
    application.setDesktopFileName(APP_ID)
    application.setWindowIcon(application_icon())
    program = build(application, config_folder(), data_folder())
    program.window.show()
    QTimer.singleShot(0, program.session.begin)
    status = application.exec()
    program.close()
    return status
