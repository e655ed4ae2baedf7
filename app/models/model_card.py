"""One model of the library as a card: what it is, what to expect of it here, and one button."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout

from app.i18n import tr
from app.models.estimate import Estimate
from app.models.library_index import Entry
from app.page_parts.figures_as_words import (
    SPEED_ROLES,
    SPEED_WORDS,
    estimate_details,
    estimate_sentence,
    number_text,
    size_text,
)
from app.page_parts.labels import button, icon_button, label, row, set_role
from app.theme import Theme
from app.theme.tokens import GRID

SPEED_MARKS = {"good": "●", "warn": "◐", "bad": "○"}
"""A shape beside the word, so that the colour is never the only sign."""


@dataclass(frozen=True)
class CardView:
    """What a card shows: the model, its estimate where there is one, and whether it is loaded."""

    entry: Entry
    estimate: Estimate | None
    total_memory: int
    loaded: bool


def facts_line(entry: Entry) -> str:
    """Size, quantization and make-up in one soft line."""
    parts = [size_text(entry.file.size)]
    facts = entry.facts
    quantization = entry.file.quantization or (facts.quantization if facts else "")
    if quantization:
        parts.append(quantization)
    if facts is not None and facts.shape.is_moe:
        parts.append(
            tr("{used} of {all} experts at a time").format(used=facts.shape.n_expert_used, all=facts.shape.n_expert)
        )
    elif facts is not None:
        parts.append(tr("no experts: everything works for every token"))
    if facts is not None and facts.shape.context_length:
        thousands = number_text(facts.shape.context_length / 1024, 0)
        parts.append(tr("up to {n}k tokens of context").format(n=thousands))
    if entry.file.parts_expected > 1 and entry.file.complete:
        parts.append(tr("{n} parts").format(n=entry.file.parts_expected))
    return "  ·  ".join(parts)


def verdict(view: CardView) -> tuple[str, str, str]:
    """(role, plain word, sentence) under the facts."""
    entry = view.entry
    if entry.away:
        return "warn", tr("Not connected"), tr("The drive with {folder} is missing.").format(folder=entry.folder)
    if not entry.file.complete:
        text = tr("Only {have} of {all} parts are here.")
        return "warn", tr("Incomplete"), text.format(have=entry.file.parts_present, all=entry.file.parts_expected)
    if entry.problem:
        return "bad", tr("Cannot be used"), entry.problem
    if view.estimate is None:
        return "soft", "", tr("Reading what the file says about itself…")
    word = tr(SPEED_WORDS[view.estimate.speed])
    return SPEED_ROLES[view.estimate.speed], word, estimate_sentence(view.estimate, view.total_memory)


class ModelCard(QFrame):
    """A card; `show_view` updates it in place, so that the keyboard focus stays where it is."""

    def __init__(
        self, theme: Theme, use: Callable[[Entry], object], fill_menu: Callable[[Entry, QMenu], object]
    ) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._use, self._fill_menu = use, fill_menu
        self._view: CardView | None = None
        self._title = label("", "heading")
        self._facts = label("", "soft", wrap=True)
        self._mark = label("")
        self._word = label("", "heading")
        self._sentence = label("", "", wrap=True)
        self.use_button: QPushButton = button(tr("Use"), self._pressed, "primary")
        self._more = icon_button(theme, "more", tr("More about this model"))
        menu = QMenu(self._more)
        menu.aboutToShow.connect(lambda: self._fill(menu))
        self._more.setMenu(menu)
        self._more.setPopupMode(self._more.ToolButtonPopupMode.InstantPopup)
        self._lay_out()

    def show_view(self, view: CardView) -> None:
        """Show this model in this state."""
        if view == self._view:
            return
        self._view = view
        entry = view.entry
        self._title.setText(entry.title)
        self._title.setToolTip(str(entry.file.path))
        self._facts.setText(facts_line(entry))
        role, word, sentence = verdict(view)
        for part in (self._mark, self._word):
            set_role(part, role)
            part.setVisible(bool(word))
        self._mark.setText(SPEED_MARKS.get(role, ""))
        self._word.setText(word)
        self._sentence.setText(sentence)
        set_role(self._sentence, "soft" if role == "soft" else "")
        self._sentence.setToolTip(estimate_details(view.estimate) if view.estimate and not entry.problem else "")
        self.use_button.setText(tr("In use") if view.loaded else tr("Use"))
        self.use_button.setEnabled(not view.loaded and not entry.away and entry.file.complete and not entry.problem)
        self.use_button.setAccessibleName(tr("Use {model}").format(model=entry.title))
        self.setAccessibleName(f"{entry.title}. {word}. {sentence}")

    def _pressed(self) -> None:
        if self._view is not None:
            self._use(self._view.entry)

    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        if self._view is not None:
            self._fill_menu(self._view.entry, menu)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(GRID // 2)
        words.addWidget(self._title)
        words.addWidget(self._facts)
        line = row(self._mark, self._word, self._sentence, spacing=6)
        line.setStretch(2, 1)
        for part in (self._mark, self._word):
            line.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        words.addLayout(line)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(2 * GRID, GRID + 4, GRID + 4, GRID + 4)
        whole.setSpacing(GRID)
        whole.addLayout(words, 1)
        whole.addWidget(self.use_button, 0, Qt.AlignmentFlag.AlignVCenter)
        whole.addWidget(self._more, 0, Qt.AlignmentFlag.AlignVCenter)
