"""Makes what the pages need when the program starts: library, downloads, presets; and ends it in order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.models.downloads.queue import DownloadQueue
from app.models.shelf import Shelf
from app.models.sources import LibraryModels
from app.presets.source import StoredPresets
from app.presets.store import PresetStore
from app.server_page.serving import serving_from
from app.session import EngineSession


@dataclass
class Library:
    """The services behind Models, presets and Server."""

    shelf: Shelf
    downloads: DownloadQueue
    presets: PresetStore

    def notes(self) -> tuple[str, ...]:
        """Lines for the user about files that were broken."""
        return (self.shelf.note, self.downloads.note, self.presets.note)

    def begin(self) -> None:
        """Once the window is up: look through the folders and let unfinished downloads go on."""
        self.shelf.rescan()
        self.downloads.begin()

    def close(self) -> None:
        """End downloads and write what is not written yet."""
        self.downloads.stop()
        self.shelf.save()


def make_library(session: EngineSession, config: Path, data: Path) -> Library:
    """Make the services and feed the session's menus from them. Nothing is scanned or downloaded yet."""
    client, preferences = session.client, session.preferences
    client.door.want(serving_from(preferences["server"]))
    presets = PresetStore(config / "presets.json")
    shelf = Shelf(client, preferences, data / "library.json", session)
    downloads = DownloadQueue(data / "downloads.json", session)
    downloads.arrived.connect(lambda _: shelf.rescan())
    session.models = LibraryModels(preferences, shelf, presets)
    session.presets = StoredPresets(presets)
    return Library(shelf, downloads, presets)
