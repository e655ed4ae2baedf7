"""One repository on the hub: its variants, what each would do on this computer, and where to put it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.context import AppContext
from app.i18n import tr
from app.models.catalogue import CatalogueModel, CatalogueVariant
from app.models.downloads.listing import Listing, Variant
from app.models.downloads.process import WorkerProcess
from app.models.downloads_tab import folder_choice, reason_text
from app.models.estimate import Estimate, Machine, estimate
from app.models.machine import this_machine
from app.models.model_card import SPEED_MARKS
from app.page_parts.figures_as_words import SPEED_ROLES, SPEED_WORDS, estimate_details, estimate_sentence, size_text
from app.page_parts.labels import button, clear, icon_button, label, row
from app.page_parts.page_frame import Column
from app.page_parts.state_view import StateView
from app.theme.tokens import GRID


class RepositoryView(QWidget):
    """Asks the hub when a repository is opened; nothing touches the network before."""

    def __init__(self, context: AppContext, back: Callable[[], object], downloading: Callable[[], object]) -> None:
        super().__init__()
        self._context, self._downloading = context, downloading
        self._repository = ""
        self._model: CatalogueModel | None = None
        self._worker: WorkerProcess | None = None
        self._title = label("", "heading", select=True)
        self._licence = label("", "soft", wrap=True)
        self._folder = QComboBox()
        self._folder.setAccessibleName(tr("Folder to download to"))
        self._folder.setMinimumContentsLength(16)
        self._folder.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._folder.activated.connect(self._folder_chosen)
        self._state = StateView(context.theme)
        self._list = Column()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._state)
        self._stack.addWidget(self._list)
        self._build(icon_button(context.theme, "left", tr("Back"), lambda: self._leave(back)))

    @property
    def repository(self) -> str:
        """The repository on show."""
        return self._repository

    def open(self, repository: str, model: CatalogueModel | None = None) -> None:
        """Ask the hub about a repository ("owner/name"); `model` is what the catalogue knows of it."""
        self.stop()
        self._repository, self._model = repository, model
        self._title.setText(model.title if model else repository)
        self._licence.setText(repository if model else "")
        self._fill_folders()
        self._stack.setCurrentWidget(self._state)
        self._state.loading(
            tr("Asking the hub"), tr("Looking at the files of {name}…").format(name=repository),
            button=tr("Cancel"), slot=self._cancelled,
        )  # fmt: skip
        worker = self._worker = WorkerProcess({"do": "list", "repository": repository}, self)
        worker.event.connect(lambda event: self._answered(worker, event))
        worker.ended.connect(lambda: self._ended(worker))
        worker.start()

    def stop(self) -> None:
        """Drop a question that is under way."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _answered(self, worker: WorkerProcess, event: dict[str, Any]) -> None:
        if worker is not self._worker:
            return
        if event["event"] == "listing":
            self._worker = None
            self._show(Listing.from_json(event["listing"]))
        elif event["event"] == "failed":
            self._worker = None
            reason, detail = str(event["reason"]), str(event["detail"])
            texts = {
                "not-found": tr("There is no repository of this name. It is written owner/name."),
                "no-model": tr("This repository has no complete GGUF model."),
            }
            self._fail(texts.get(reason) or reason_text(reason, detail))

    def _ended(self, worker: WorkerProcess) -> None:
        if worker is self._worker:
            self._worker = None
            self._fail(tr("The question to the hub broke off."))

    def _fail(self, text: str) -> None:
        self._state.error(
            tr("The hub did not help"), text, tr("Ask again"), lambda: self.open(self._repository, self._model)
        )

    def _cancelled(self) -> None:
        self.stop()
        self._fail(tr("You cancelled the question."))

    def _show(self, listing: Listing) -> None:
        licence = tr("Licence: {name}").format(name=listing.licence or (self._model.licence if self._model else "?"))
        self._licence.setText(f"{listing.repository}  ·  {licence}")
        clear(self._list.body)
        machine = this_machine()
        for variant in listing.variants:
            self._list.body.addWidget(self._variant_card(listing, variant, machine))
        self._list.body.addStretch(1)
        self._stack.setCurrentWidget(self._list)

    def _variant_card(self, listing: Listing, variant: Variant, machine: Machine) -> QFrame:
        frame = QFrame()
        frame.setProperty("role", "card")
        name = label(variant.quantization or variant.name, "heading")
        name.setToolTip(variant.name)
        size = label(size_text(variant.size), "soft")
        recommended = label(tr("recommended"), "good") if self._is_recommended(variant) else QLabel()
        start = button(
            tr("Download"), lambda: self._download(listing, variant), "primary" if self._is_recommended(variant) else ""
        )
        start.setAccessibleName(tr("Download {name}").format(name=variant.name))
        words = QVBoxLayout()
        words.setSpacing(GRID // 2)
        words.addLayout(row(name, size, recommended, 1))
        judged = self._estimate(variant, machine)
        if judged is not None:
            words.addLayout(verdict_row(judged, machine.total_bytes))
        whole = row(start)
        whole.insertLayout(0, words, 1)
        whole.setContentsMargins(2 * GRID, GRID + 4, 2 * GRID, GRID + 4)
        frame.setLayout(whole)
        return frame

    def _is_recommended(self, variant: Variant) -> bool:
        return self._model is not None and variant.quantization == self._model.recommended

    def _estimate(self, variant: Variant, machine: Machine) -> Estimate | None:
        if self._model is None:
            return None
        return estimate(self._model.shape(CatalogueVariant(variant.quantization, variant.size)), machine)

    def _download(self, listing: Listing, variant: Variant) -> None:
        folder = Path(self._folder.currentData())
        self._context.downloads.add(listing, variant, folder)
        self._downloading()

    def _fill_folders(self) -> None:
        self._folder.clear()
        chosen = folder_choice(self._context)
        for folder in self._context.shelf.folder_paths():
            free = free_text(folder)
            self._folder.addItem(f"{short_path(folder)}  ·  {free}" if free else short_path(folder), str(folder))
            if folder == chosen:
                self._folder.setCurrentIndex(self._folder.count() - 1)

    def _folder_chosen(self, at: int) -> None:
        preferences = self._context.preferences
        preferences["extra"] = {**preferences["extra"], "download_folder": self._folder.itemData(at)}

    def _leave(self, back: Callable[[], object]) -> None:
        self.stop()
        back()

    def _build(self, back: QWidget) -> None:
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._title)
        words.addWidget(self._licence)
        head = row(back, label(tr("To"), "soft"), self._folder)
        head.insertLayout(1, words, 1)
        head.setContentsMargins(GRID, GRID, 2 * GRID, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._stack, 1)


def verdict_row(judged: Estimate, total_memory: int) -> Any:
    """Mark, plain word and sentence of an estimate, with the details as tooltip."""
    role = SPEED_ROLES[judged.speed]
    sentence = label(estimate_sentence(judged, total_memory), wrap=True)
    sentence.setToolTip(estimate_details(judged))
    line = row(label(SPEED_MARKS[role], role), label(tr(SPEED_WORDS[judged.speed]), role), sentence, spacing=6)
    line.setStretch(2, 1)
    return line


def short_path(folder: Path) -> str:
    """A folder as a person knows it, the home folder as ~."""
    try:
        return str(Path("~") / folder.relative_to(Path.home()))
    except ValueError:
        return str(folder)


def free_text(folder: Path) -> str:
    """Free space of the drive that holds `folder`, "" when it cannot be told."""
    for place in (folder, *folder.parents):
        if place.exists():
            return tr("{size} free").format(size=size_text(shutil.disk_usage(place).free))
    return ""
