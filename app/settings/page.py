"""The Settings place: the window, the engine's presets, tuning, about."""

from __future__ import annotations

from app.context import AppContext
from app.i18n import tr
from app.page_parts.page_frame import PageFrame
from app.page_parts.tabs import Tabs
from app.presets.presets_tab import PresetsTab
from app.settings.about_tab import AboutTab
from app.settings.preferences_tab import PreferencesTab
from app.wizard.tune_tab import TuneTab


class SettingsPage(PageFrame):
    """The Settings place. Attributes: `tabs` ("window", "presets", "tune", "about") and one page of each name."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(tr("Settings"))
        self.tabs = Tabs()
        self.window_tab = PreferencesTab(context)
        self.presets = PresetsTab(context)
        self.tune = TuneTab(context)
        self.about = AboutTab(context)
        self._pages: dict[str, PreferencesTab | PresetsTab | TuneTab | AboutTab] = {
            "window": self.window_tab, "presets": self.presets, "tune": self.tune, "about": self.about,
        }  # fmt: skip
        titles = {"window": tr("Window"), "presets": tr("Presets"), "tune": tr("Tuning"), "about": tr("About")}
        for name, page in self._pages.items():
            self.tabs.add(name, titles[name], page)
        self.tabs.changed.connect(lambda _: self.shown())
        self.column.addWidget(self.tabs, 1)

    def shown(self) -> None:
        """The page came to the front."""
        self._pages[self.tabs.current].refresh()
