"""The catalogue: models worth trying with an honest estimate each, and any repository of the hub by its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QFrame, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from app.context import AppContext
from app.files import atomic_write, config_folder
from app.i18n import tr
from app.i18n.translator import current_language
from app.models.catalogue import Catalogue, CatalogueModel, newest_catalogue, read_catalogue
from app.models.estimate import Machine, estimate
from app.models.machine import this_machine
from app.models.repository_view import RepositoryView, verdict_row
from app.page_parts.figures_as_words import number_text, size_text
from app.page_parts.labels import button, clear, label, row
from app.page_parts.page_frame import Column
from app.page_parts.state_view import StateView
from app.theme.tokens import GRID

REPOSITORY = re.compile(r"^(?:https?://[^/]+/)?([\w.-]+/[\w.-]+?)(?:/(?:tree|blob|resolve)/.*)?/?$")


def repository_name(text: str) -> str:
    """owner/name from what a person types or pastes, a page's address included; "" when it is neither."""
    found = REPOSITORY.match(text.strip())
    return found.group(1) if found else ""


class CatalogueTab(QWidget):
    """The catalogue and, in front of it, a repository that was opened."""

    def __init__(self, context: AppContext, downloading: Callable[[], object]) -> None:
        super().__init__()
        self._context = context
        self._catalogue: Catalogue | None = None
        self._cards: list[tuple[CatalogueModel, QFrame]] = []
        self._field = QLineEdit()
        self._field.setPlaceholderText(tr("Find in the catalogue, or type owner/name of any repository"))
        self._field.setAccessibleName(tr("Find a model or name a repository"))
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self._typed)
        self._field.returnPressed.connect(self._open_typed)
        self._open = button(tr("Look up"), self._open_typed)
        self._state = StateView(context.theme)
        self._list = Column()
        self._lists = QStackedWidget()
        self.repository = RepositoryView(context, self._back, downloading)
        self._stack = QStackedWidget()
        self._build()

    def refresh(self) -> None:
        """Read the catalogue the first time; estimates follow the memory that is free now."""
        self._catalogue = newest_catalogue(config_folder() / "catalogue.json")
        self._fill(self._catalogue)

    def open(self, repository: str, model: CatalogueModel | None = None) -> None:
        """Show one repository."""
        self._stack.setCurrentWidget(self.repository)
        self.repository.open(repository, model)

    def _fill(self, catalogue: Catalogue) -> None:
        clear(self._list.body)
        machine = this_machine()
        self._cards = [(model, self._card(model, machine)) for model in catalogue.models]
        for _, made in self._cards:
            self._list.body.addWidget(made)
        text = tr("As of {date}. “About” is an estimate; the hub says the exact size when a model is opened.").format(
            date=catalogue.updated
        )
        update = button(tr("Use a newer catalogue file…"), self._choose_file, "quiet")
        foot = QWidget()
        foot.setLayout(row(label(text, "soft", wrap=True), 1, update))
        self._list.body.addWidget(foot)
        self._list.body.addStretch(1)
        self._typed(self._field.text())

    def _card(self, model: CatalogueModel, machine: Machine) -> QFrame:
        frame = QFrame()
        frame.setProperty("role", "card")
        variant = model.recommended_variant
        words = QVBoxLayout()
        words.setSpacing(GRID // 2)
        words.addWidget(label(model.title, "heading"))
        words.addWidget(label(model.summary.get(current_language(), model.summary.get("en", "")), wrap=True))
        words.addWidget(label(_facts(model), "soft", wrap=True))
        words.addLayout(verdict_row(estimate(model.shape(variant), machine), machine.total_bytes))
        choose = button(tr("Choose…"), lambda: self.open(model.repository, model))
        choose.setAccessibleName(tr("Choose a variant of {name}").format(name=model.title))
        whole = row()
        whole.addLayout(words, 1)
        whole.addWidget(choose, 0, Qt.AlignmentFlag.AlignVCenter)
        whole.setContentsMargins(2 * GRID, GRID + 4, 2 * GRID, GRID + 4)
        frame.setLayout(whole)
        return frame

    def _typed(self, text: str) -> None:
        wanted = text.strip().casefold()
        shown = 0
        for model, made in self._cards:
            matches = wanted in f"{model.title} {model.maker} {model.repository} {model.licence}".casefold()
            made.setVisible(matches)
            shown += matches
        self._open.setEnabled(bool(repository_name(text)))
        self._lists.setCurrentWidget(self._list if shown else self._state)
        if not shown:
            name = repository_name(text)
            self._state.empty(
                "search", tr("Not in the catalogue"),
                tr("{name} may still be on the hub.").format(name=name) if name
                else tr("Any other model can be had by the name of its repository, owner/name."),
                tr("Look it up on the hub") if name else "", self._open_typed,
            )  # fmt: skip

    def _open_typed(self) -> None:
        name = repository_name(self._field.text())
        if name:
            models = self._catalogue.models if self._catalogue else ()
            self.open(name, next((one for one in models if one.repository == name), None))

    def _back(self) -> None:
        self._stack.setCurrentIndex(0)

    def _choose_file(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self, tr("Catalogue file"), "", tr("Catalogues (*.json)"))
        if chosen:
            self.use_file(Path(chosen))

    def use_file(self, path: Path) -> None:
        """Take a newer catalogue file over into the user's own folder."""
        try:
            read_catalogue(path)
            atomic_write(config_folder() / "catalogue.json", path.read_bytes())
        except (OSError, ValueError) as problem:
            self._context.frame.toast(tr("This file cannot be used as a catalogue: {problem}").format(problem=problem))
            return
        self.refresh()

    def _build(self) -> None:
        self._list.body.addStretch(1)
        self._lists.addWidget(self._list)
        self._lists.addWidget(self._state)
        front = QWidget()
        column = QVBoxLayout(front)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = row(self._field, self._open)
        head.setContentsMargins(2 * GRID, GRID, 2 * GRID, 0)
        column.addLayout(head)
        column.addWidget(self._lists, 1)
        self._stack.addWidget(front)
        self._stack.addWidget(self.repository)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)


def _facts(model: CatalogueModel) -> str:
    parameters = tr("{all} billion weights, {active} at a time").format(
        all=number_text(model.parameters_b, 0), active=number_text(model.active_b)
    )
    variant = model.recommended_variant
    form = tr("{size} as {name}") if variant.listed else tr("about {size} as {name}")
    size = form.format(size=size_text(variant.size_bytes), name=model.recommended)
    licence = model.licence if model.licence_sure else tr("{licence}, not checked").format(licence=model.licence)
    return "  ·  ".join((model.maker, parameters, size, licence))
