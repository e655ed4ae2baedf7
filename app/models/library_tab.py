"""The models on this computer: folders, cards, and the states of a library."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMenu, QStackedWidget, QVBoxLayout, QWidget

from app.context import AppContext
from app.engine_client import State
from app.i18n import tr, trn
from app.models.estimate import Machine, estimate
from app.models.library_index import Entry
from app.models.machine import measurement, this_machine
from app.models.model_card import CardView, ModelCard
from app.page_parts.labels import button, discard, icon_button, label, row
from app.page_parts.page_frame import Column
from app.page_parts.state_view import StateView
from app.session import is_demo
from app.theme.tokens import GRID

FILTER_FROM = 8
"""With fewer models a filter is in the way."""


class LibraryTab(QWidget):
    """The library. The page calls `refresh` when something may have changed and the tab is visible."""

    def __init__(self, context: AppContext, go_to_catalogue: object) -> None:
        super().__init__()
        self._context = context
        self._go_to_catalogue = go_to_catalogue
        self._cards: dict[Path, ModelCard] = {}
        self._filter = QLineEdit()
        self._filter.setPlaceholderText(tr("Find a model…"))
        self._filter.setAccessibleName(tr("Find a model"))
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(lambda _: self.refresh())
        self._status = label("", "soft", wrap=True)
        self._state = StateView(context.theme)
        self._list = Column()
        self._stack = QStackedWidget()
        self._build()
        context.shelf.changed.connect(self._changed)
        context.client.state_changed.connect(self._changed)

    def refresh(self) -> None:
        """Show the library as it is now."""
        shelf = self._context.shelf
        entries = shelf.entries()
        self._status.setText(self._status_text(entries))
        self._filter.setVisible(len(entries) >= FILTER_FROM)
        if entries:
            self._show_cards(entries)
            self._stack.setCurrentWidget(self._list)
            return
        self._stack.setCurrentWidget(self._state)
        if shelf.scanning:
            self._state.loading(tr("Looking for models"), tr("Looking through your model folders…"))
        elif any(not folder.present for folder in shelf.folders()[1:]):
            missing = next(folder.path for folder in shelf.folders()[1:] if not folder.present)
            self._state.error(
                tr("The folder is not there"),
                tr("{folder} cannot be found. If it is on another drive, connect it.").format(folder=missing),
                tr("Look again"), shelf.rescan,
            )  # fmt: skip
        else:
            self._state.empty(
                "models", tr("No models yet"),
                tr("Download one from the catalogue, or add a folder that has GGUF files in it."),
                tr("Open the catalogue"), self._go_to_catalogue,  # type: ignore[arg-type]
            )  # fmt: skip

    def add_folder(self) -> None:
        """Ask for a folder and make it part of the library."""
        chosen = QFileDialog.getExistingDirectory(self, tr("Add a folder with models"))
        if chosen:
            self._context.shelf.add_folder(Path(chosen))

    def _show_cards(self, entries: tuple[Entry, ...]) -> None:
        wanted = [entry for entry in entries if self._filter.text().casefold() in entry.title.casefold()]
        paths = [entry.file.path for entry in wanted]
        for path in [path for path in self._cards if path not in paths]:
            discard(self._cards.pop(path))
        machine = this_machine()
        for at, entry in enumerate(wanted):
            card = self._cards.get(entry.file.path)
            if card is None:
                card = self._cards[entry.file.path] = ModelCard(self._context.theme, self._use, self._fill_menu)
            card.show_view(self._view(entry, machine))
            if self._list.body.indexOf(card) != at:
                self._list.body.insertWidget(at, card)

    def _view(self, entry: Entry, machine: Machine) -> CardView:
        client = self._context.client
        loaded = client.state in (State.READY, State.BUSY) and self._context.session.wanted == str(entry.file.path)
        judged = None
        if entry.facts is not None:
            tuned = self._context.presets.tuned(str(entry.file.path))
            here = this_machine(tuned) if tuned else machine
            judged = estimate(entry.facts.shape, here, measurement=measurement(tuned))
        return CardView(entry, judged, machine.total_bytes, loaded)

    def _status_text(self, entries: tuple[Entry, ...]) -> str:
        shelf = self._context.shelf
        if shelf.scanning:
            return tr("Looking through your model folders…")
        parts = [trn("{n} model", "{n} models", len(entries))] if entries else []
        away = sum(entry.away for entry in entries)
        if away:
            parts.append(trn("{n} on a drive that is not connected", "{n} on drives that are not connected", away))
        unreadable = sum(len(folder.unreadable) for folder in shelf.folders() if folder.present)
        if unreadable:
            parts.append(trn("{n} folder could not be read", "{n} folders could not be read", unreadable))
        unread = any(not one.facts and not one.problem and not one.away and one.file.complete for one in entries)
        if unread and not self._context.client.state.listening:
            parts.append(tr("the engine is off, so the files have not been looked into"))
        return ", ".join(parts)

    def _use(self, entry: Entry) -> None:
        self._context.session.use_model(str(entry.file.path))
        self._context.frame.show_place("chat")

    def _fill_menu(self, entry: Entry, menu: QMenu) -> None:
        folder = QUrl.fromLocalFile(str(entry.file.path.parent))
        menu.addAction(tr("Show in folder"), lambda: QDesktopServices.openUrl(folder)).setEnabled(not entry.away)
        menu.addAction(tr("Copy path"), lambda: QGuiApplication.clipboard().setText(str(entry.file.path)))
        if entry.folder != self._context.shelf.downloads_folder and not is_demo(str(entry.file.path)):
            menu.addSeparator()
            menu.addAction(
                tr("Remove folder {name} from the library").format(name=entry.folder.name or str(entry.folder)),
                lambda: self._remove_folder(entry.folder),
            )

    def _remove_folder(self, folder: Path) -> None:
        self._context.shelf.remove_folder(folder)
        self._context.frame.toast(
            tr("{folder} is no longer part of the library; its files are untouched.").format(folder=folder.name),
            tr("Undo"), lambda: self._context.shelf.add_folder(folder),
        )  # fmt: skip

    def _changed(self, *_: object) -> None:
        if self.isVisible():
            self.refresh()

    def _build(self) -> None:
        head = QWidget()
        head.setLayout(
            row(
                self._status,
                self._filter,
                icon_button(self._context.theme, "refresh", tr("Look again"), self._context.shelf.rescan),
                button(tr("Add folder…"), self.add_folder),
            )
        )
        head.layout().setContentsMargins(2 * GRID, GRID, 2 * GRID, 0)  # type: ignore[union-attr]
        head.layout().setStretch(0, 1)  # type: ignore[union-attr]
        self._filter.setMaximumWidth(220)
        self._list.body.addStretch(1)
        self._stack.addWidget(self._list)
        self._stack.addWidget(self._state)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._stack, 1)
