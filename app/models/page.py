"""The Models place: what is on this computer, what there is to download, what is on its way."""

from __future__ import annotations

from app.context import AppContext
from app.i18n import tr
from app.models.catalogue_tab import CatalogueTab
from app.models.downloads_tab import DownloadsTab, running_count
from app.models.library_tab import LibraryTab
from app.page_parts.page_frame import PageFrame
from app.page_parts.tabs import Tabs


class ModelsPage(PageFrame):
    """The Models place. Attributes: `tabs` ("library", "catalogue", "downloads") and one page of each name."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(tr("Models"))
        self._context = context
        self.tabs = Tabs()
        self.library = LibraryTab(context, self._go_to_catalogue)
        self.catalogue = CatalogueTab(context, self._go_to_downloads)
        self.downloads = DownloadsTab(context, self._go_to_catalogue)
        self.tabs.add("library", tr("On this computer"), self.library)
        self.tabs.add("catalogue", tr("Catalogue"), self.catalogue)
        self.tabs.add("downloads", tr("Downloads"), self.downloads)
        self.tabs.changed.connect(lambda _: self._refresh())
        self.column.addWidget(self.tabs, 1)
        context.downloads.changed.connect(lambda _: self._count())
        self._count()

    def shown(self) -> None:
        """The page came to the front."""
        self._refresh()

    def hidden(self) -> None:
        """The page left: a question to the hub is dropped, downloads go on."""
        self.catalogue.repository.stop()

    def _refresh(self) -> None:
        page: LibraryTab | CatalogueTab | DownloadsTab = getattr(self, self.tabs.current)
        page.refresh()

    def _count(self) -> None:
        running = running_count(self._context)
        title = tr("Downloads ({n})").format(n=running) if running else tr("Downloads")
        self.tabs.set_title("downloads", title)

    def _go_to_catalogue(self) -> None:
        self.tabs.go("catalogue")

    def _go_to_downloads(self) -> None:
        self.tabs.go("downloads")
