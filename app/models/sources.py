"""The header's model menu, fed from the library: what was used last, then everything else that is on the drives."""

from __future__ import annotations

from collections.abc import Sequence

from app.i18n import tr
from app.models.estimate import estimate
from app.models.machine import measurement, this_machine
from app.models.shelf import Shelf
from app.page_parts.figures_as_words import SPEED_WORDS, size_text
from app.preferences import Preferences
from app.presets.store import PresetStore
from app.session import Choice, RecentModels

MOST_OTHERS = 12
"""Models in the menu besides the recent ones; the Models place shows all."""


class LibraryModels:
    """Recent models first, then the library, each with its plain word for this computer."""

    def __init__(self, preferences: Preferences, shelf: Shelf, presets: PresetStore) -> None:
        self._recent = RecentModels(preferences)
        self._shelf, self._presets = shelf, presets

    def choices(self) -> Sequence[Choice]:
        """Models to offer; those on a missing drive say so."""
        recent = [Choice(one.key, one.title, self._note(one.key)) for one in self._recent.choices()]
        known = {one.key for one in recent}
        others = [
            Choice(str(entry.file.path), entry.title, self._note(str(entry.file.path)))
            for entry in self._shelf.entries()
            if str(entry.file.path) not in known and not entry.away and entry.file.complete and not entry.problem
        ]
        return [*recent, *others[:MOST_OTHERS]]

    def title(self, key: str) -> str:
        """What to call the model."""
        entry = self._shelf.entry(key)
        return entry.title if entry is not None else self._recent.title(key)

    def _note(self, key: str) -> str:
        entry = self._shelf.entry(key)
        if entry is None:
            return ""
        if entry.away:
            return tr("drive not connected")
        if entry.facts is None:
            return size_text(entry.file.size)
        tuned = self._presets.tuned(key)
        judged = estimate(entry.facts.shape, this_machine(tuned), measurement=measurement(tuned))
        return f"{size_text(entry.file.size)}, {tr(SPEED_WORDS[judged.speed])}"
