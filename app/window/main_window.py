"""The one window: sidebar, header, the place in front, engine panel."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from app import APP_NAME
from app.actions import Actions
from app.context import AppContext
from app.engine_client import EngineClient
from app.preferences import Preferences
from app.session import EngineSession
from app.store import Store
from app.theme import Theme
from app.window.places import PLACES
from app.window.sidebar import Sidebar

MINIMUM = (640, 480)
NARROW = 900
"""Below this width the sidebar shows icons only."""


class MainWindow(QMainWindow):
    """The window. Implements `app.context.Frame`.

    Signals: `place_changed(name)`; `closing` before it closes, when pages stop what they do.
    """

    place_changed = Signal(str)
    closing = Signal()

    def __init__(
        self, client: EngineClient, session: EngineSession, preferences: Preferences, theme: Theme, store: Store
    ) -> None:
        super().__init__()
        self.setWindowTitle(APP_NAME)
        self.setMinimumSize(*MINIMUM)
        self.context = AppContext(client, session, preferences, theme, Actions(self), store, self)
        self._pages: dict[str, QWidget] = {}
        self._place = ""
        self._stack = QStackedWidget(self)
        self.sidebar = Sidebar(self.context)
        self._build()
        self._connect_actions()
        self.show_place("chat")

    # -- Frame -----------------------------------------------------------------------------------------------------------

    def show_place(self, name: str) -> None:
        """Bring a place to the front; it is made on the first visit."""
        if name == self._place:
            return
        self._tell(self._place, "hidden")
        if name not in self._pages:
            place = next(one for one in PLACES if one.name == name)
            self._pages[name] = place.make(self.context)
            self._stack.addWidget(self._pages[name])
        self._place = name
        self._stack.setCurrentWidget(self._pages[name])
        self._tell(name, "shown")
        self.place_changed.emit(name)

    def toast(self, text: str, button: str = "", slot: Callable[[], object] | None = None) -> None:
        """Say something for a few seconds, with one button at most."""

    # -- pages for tests and pictures --------------------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """The place in front."""
        return self._place

    def page(self, name: str) -> QWidget:
        """The widget of a place that was visited. Raises KeyError otherwise."""
        return self._pages[name]

    # -- building --------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        middle = QWidget(self)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._stack, 1)
        body = QWidget(self)
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sidebar)
        row.addWidget(middle, 1)
        self.setCentralWidget(body)
        self.context.actions.fill(self.menuBar())

    def _connect_actions(self) -> None:
        for place in PLACES:
            self.context.actions.connect(f"view.{place.name}", lambda _=False, name=place.name: self.show_place(name))
        self.context.actions.connect("app.quit", self.close)

    def _tell(self, place: str, what: str) -> None:
        told = getattr(self._pages.get(place), what, None)
        if told is not None:
            told()

    # -- events ----------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Narrow windows get the narrow sidebar."""
        super().resizeEvent(event)
        self.sidebar.set_narrow(self.width() < NARROW)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Pages stop, the engine goes, everything is written."""
        self._tell(self._place, "hidden")
        self.closing.emit()
        super().closeEvent(event)
