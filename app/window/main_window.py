"""The one window: sidebar, header, notices, the place in front, engine panel."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, QSize, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from app import APP_NAME
from app.actions import Actions
from app.chat.conversations import Conversations
from app.chat.page import ChatPage
from app.context import AppContext
from app.engine_client import EngineClient
from app.i18n import tr
from app.models.start import Library
from app.preferences import Preferences
from app.session import EngineSession
from app.store import Store
from app.telemetry.history import TelemetryHistory
from app.theme import Theme
from app.window.chat_actions import ChatActions
from app.window.engine_news import EngineNews
from app.window.engine_panel import EnginePanel
from app.window.geometry import Box, placed
from app.window.header import Header
from app.window.help_actions import HelpActions
from app.window.notices import Notice, Toast
from app.window.places import PLACES
from app.window.sidebar import Sidebar
from app.window.update_check import UpdateCheck
from app.wizard.stale_notice import StaleNotice

MINIMUM = (640, 480)
DEFAULT = (1100, 750)
NARROW = 900
"""Below this width the sidebar shows icons only. Widths are for the desktop's own font; larger type needs more."""
PANEL_NEEDS = 760
"""Below this width the engine panel stays away, open or not."""


class MainWindow(QMainWindow):
    """The window. Implements `app.context.Frame`.

    Signals: `place_changed(name)`; `closing` before it closes, when pages stop what they do.
    """

    place_changed = Signal(str)
    closing = Signal()

    def __init__(
        self,
        client: EngineClient,
        session: EngineSession,
        preferences: Preferences,
        theme: Theme,
        store: Store,
        library: Library,
    ) -> None:
        super().__init__()
        self.setWindowTitle(APP_NAME)
        self.setMinimumSize(*MINIMUM)
        actions = Actions(self)
        self.context = AppContext(
            client, session, preferences, theme, actions, store, Conversations(store, self), self, library.shelf,
            library.downloads, library.presets, TelemetryHistory(client, self),
        )  # fmt: skip
        self._pages: dict[str, QWidget] = {}
        self._place = ""
        self._sidebar_open: bool | None = None
        self._body = QWidget(self)
        self._stack = QStackedWidget(self)
        self._notices = QVBoxLayout()
        self.sidebar = Sidebar(self.context)
        self.header = Header(self.context)
        self.panel = EnginePanel(self.context)
        self._build()
        self._toast = Toast(self._body, self._toast_place)
        self.chat_actions = ChatActions(self.context, self.sidebar, self)
        self.help_actions = HelpActions(self.context, self)
        self.update_check = UpdateCheck(self)
        self.stale_notice = StaleNotice(self.context, self)
        self.news = EngineNews(self.context, self.header, self.panel, self)
        self._connect_actions()
        self._show_panel(preferences["panel_open"])
        self._restore_geometry()
        self.show_place("chat")

    # -- Frame -------------------------------------------------------------------------

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
        self.sidebar.mark_place(name)
        self._tell(name, "shown")
        self.place_changed.emit(name)

    def toast(self, text: str, button: str = "", slot: Callable[[], object] | None = None) -> None:
        """Say something for a few seconds, with one button at most."""
        self._toast.say(text, button, slot)

    def notice(
        self, kind: str, text: str, button: str = "", slot: Callable[[], object] | None = None, details: str = ""
    ) -> Notice:
        """Say something that stays until it is closed. `kind`: "bad", "warn" or "good". The same text shows once."""
        for old in self.notices():
            if old.text == text:
                old.dismiss()
        made = Notice(self.context.theme, kind, text, button, slot, details, self)
        self._notices.addWidget(made)
        made.show()
        return made

    def notices(self) -> list[Notice]:
        """Notices that are shown."""
        return [one for one in self._body.findChildren(Notice) if not one.isHidden()]

    @property
    def place(self) -> str:
        """The place in front."""
        return self._place

    def page(self, name: str) -> QWidget:
        """The widget of a place that was visited. Raises KeyError otherwise."""
        return self._pages[name]

    def show_fault(self, line: str, details: str) -> None:
        """Say that the window itself made a mistake; it goes on."""
        self.notice("bad", tr("Something went wrong in the window: {what}").format(what=line), details=details)

    def raise_window(self) -> None:
        """Come to the front, as when the program is started a second time."""
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def finish(self) -> None:
        """The program ends: answers on their way are kept as far as they got."""
        chat = self._pages.get("chat")
        if isinstance(chat, ChatPage):
            chat.branch.stop_all()

    # -- building ----------------------------------------------------------------------

    def _build(self) -> None:
        middle = QWidget(self)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        self._notices.setContentsMargins(12, 6, 12, 0)
        self._notices.setSpacing(6)
        column.addLayout(self._notices)
        column.addWidget(self._stack, 1)
        row = QHBoxLayout(self._body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sidebar)
        row.addWidget(middle, 1)
        row.addWidget(self.panel)
        self.setCentralWidget(self._body)
        self.context.actions.fill(self.menuBar())

    def _tune(self) -> None:
        """Open the tuner's pages, which are part of the settings."""
        self.show_place("settings")
        self._pages["settings"].tabs.go("tune")  # type: ignore[attr-defined]

    def _toast_place(self) -> QRect:
        """The middle of the window, above what the page in front has at its bottom (`bottom_height()` pixels)."""
        corner = self._stack.mapTo(self._body, QPoint(0, 0))
        taken = getattr(self._pages.get(self._place), "bottom_height", int)()
        return QRect(corner, QSize(self._stack.width(), self._stack.height() - taken))

    def _connect_actions(self) -> None:
        actions, preferences = self.context.actions, self.context.preferences
        for place in PLACES:
            actions.connect(f"view.{place.name}", lambda _=False, name=place.name: self.show_place(name))
        actions.connect("app.quit", self.close)
        actions.connect("view.sidebar", self._toggle_sidebar)
        actions.connect("view.panel", self._show_panel)
        actions.connect("view.fullscreen", lambda on: self.showFullScreen() if on else self.showNormal())
        actions.connect("view.larger", lambda: self._zoom(1.0))
        actions.connect("view.smaller", lambda: self._zoom(-1.0))
        actions.connect("model.pick", self.header.open_models)
        actions.connect("model.preset", self.header.open_presets)
        actions.connect("model.cancel", self.context.session.cancel)
        actions.connect("model.tune", self._tune)
        actions.connect("engine.restart", self.context.session.restart)
        self.header.panel_asked.connect(actions["view.panel"].trigger)
        self.panel.telemetry_asked.connect(lambda: self.show_place("telemetry"))
        self.context.conversations.opened.connect(self._chat_opened)
        preferences.changed.connect(self._preference_changed)

    def _tell(self, place: str, what: str) -> None:
        told = getattr(self._pages.get(place), what, None)
        if told is not None:
            told()

    # -- what the user does ------------------------------------------------------------

    def _toggle_sidebar(self) -> None:
        self._sidebar_open = self.sidebar.narrow
        self._fit_sidebar()

    def _fit_sidebar(self) -> None:
        tight = self.width() < self.context.theme.scaled(NARROW)
        narrow = tight if self._sidebar_open is None else not self._sidebar_open
        if narrow != self.sidebar.narrow:
            self.sidebar.set_narrow(narrow)
        self.context.actions["view.sidebar"].setChecked(not narrow)
        self.header.set_narrow(tight)
        self._fit_panel()

    def _chat_opened(self) -> None:
        self.show_place("chat")
        if self.width() < self.context.theme.scaled(NARROW) and self._sidebar_open:
            self._sidebar_open = None
            self._fit_sidebar()

    def _fit_panel(self) -> None:
        room = self.width() >= self.context.theme.scaled(PANEL_NEEDS)
        self.panel.setVisible(room and self.context.actions["view.panel"].isChecked())

    def _show_panel(self, is_open: bool) -> None:
        self.context.actions["view.panel"].setChecked(is_open)
        self.context.preferences["panel_open"] = is_open
        self._fit_panel()

    def _zoom(self, points: float) -> None:
        now = self.font().pointSizeF()
        self.context.preferences["font_points"] = min(32.0, max(6.0, now + points))

    def _preference_changed(self, name: str) -> None:
        theme, preferences = self.context.theme, self.context.preferences
        if name == "theme":
            theme.choose(preferences["theme"])
        elif name == "font_points":
            theme.set_font_points(preferences["font_points"])
            self._fit_sidebar()
        elif name == "reduce_motion":
            theme.reduce_motion = preferences["reduce_motion"]
        elif name == "language":
            self.toast(tr("The language changes at the next start."))

    # -- geometry ----------------------------------------------------------------------

    def _restore_geometry(self) -> None:
        screens = [_box(screen.availableGeometry()) for screen in QGuiApplication.screens()]
        saved = self.context.preferences["geometry"]
        box = placed(saved, screens, DEFAULT, MINIMUM)
        self.setGeometry(box.x, box.y, box.width, box.height)
        if saved.get("maximized") is True:
            self.showMaximized()

    def _save_geometry(self) -> None:
        box = _box(self.normalGeometry() if self.isMaximized() or self.isFullScreen() else self.geometry())
        self.context.preferences["geometry"] = {**box.__dict__, "maximized": self.isMaximized()}

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Narrow windows get the narrow sidebar."""
        super().resizeEvent(event)
        self._fit_sidebar()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Pages stop and everything is written; the engine is ended by `app.main.Program.close`."""
        self._tell(self._place, "hidden")
        self._save_geometry()
        self.closing.emit()
        super().closeEvent(event)


def _box(rectangle: QRect) -> Box:
    return Box(rectangle.x(), rectangle.y(), rectangle.width(), rectangle.height())
