"""The header's preset menu, fed from the preset store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.i18n import tr
from app.models.machine import this_machine
from app.presets.store import PresetStore
from app.session import Choice


class StoredPresets:
    """Built-in presets, the user's own, and what was measured for the model."""

    def __init__(self, store: PresetStore) -> None:
        self._store = store

    def choices(self) -> Sequence[Choice]:
        """Every preset, in order."""
        return [
            Choice(one.key, one.title if one.own else tr(one.title), "" if one.own else tr(one.summary))
            for one in self._store.presets()
        ]

    def settings(self, key: str, model: str) -> dict[str, Any]:
        """Engine settings that preset `key` gives `model` on this computer."""
        return self._store.preset(key, model).resolved(this_machine().total_bytes)
