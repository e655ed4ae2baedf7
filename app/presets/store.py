"""The user's presets and tuned settings on disk: written atomically, migrated, a broken file put aside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.files import atomic_write, put_aside
from app.i18n import tr, trn
from app.presets.preset import Preset, built_in_presets, own_key, read_presets
from app.version import WRITER_KEY, program_version

VERSION = 2


def _split_tuned(content: dict[str, Any]) -> dict[str, Any]:
    """Version 1 knew no tuned settings."""
    return {**content, "tuned": {}}


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _split_tuned}
"""Version of a file -> function that turns its content into that of the next version."""


class PresetStore:
    """All presets: built-in ones, the user's own, and per model those that were measured here.

    `note` is one line for the user when the file had to be put aside or entries were skipped.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.note = ""
        self._built_in = built_in_presets()
        self._own: tuple[Preset, ...] = ()
        self._tuned: dict[str, Any] = {}
        self._read()

    def presets(self, model: str = "") -> tuple[Preset, ...]:
        """Every preset in the order of the menu; for a model that was tuned here the measured values replace ours."""
        tuned = self._tuned.get(model, {}).get("presets", {})
        built_in = tuple(
            replace(one, settings=tuned[one.key], tuned=True) if one.key in tuned else one for one in self._built_in
        )
        return (*built_in, *self._own)

    def preset(self, key: str, model: str = "") -> Preset:
        """One preset; the first one when there is none of that name (any more)."""
        presets = self.presets(model)
        return next((one for one in presets if one.key == key), presets[0])

    def save_own(self, preset: Preset) -> Preset:
        """Add a preset of the user's, or replace the one with its key; returns it as stored. Raises OSError."""
        if not preset.key.startswith("own-"):
            preset = replace(preset, key=own_key(preset.title, (one.key for one in self._own)))
        preset = replace(preset, own=True, tuned=False)
        known = any(one.key == preset.key for one in self._own)
        kept = tuple(preset if one.key == preset.key else one for one in self._own)
        self._write(kept if known else (*self._own, preset), self._tuned)
        return preset

    def remove_own(self, key: str) -> Preset | None:
        """Remove a preset of the user's; returns it so that the removal can be undone."""
        removed = next((one for one in self._own if one.key == key), None)
        if removed is not None:
            self._write(tuple(one for one in self._own if one.key != key), self._tuned)
        return removed

    def tuned(self, model: str) -> Mapping[str, Any]:
        """What the tuner found for this model here, as `keep_tuned` stored it; empty when there is nothing."""
        found = self._tuned.get(model, {})
        return found if isinstance(found, dict) else {}

    def keep_tuned(self, model: str, found: Mapping[str, Any] | None) -> None:
        """Store a tuning, {"presets": {key: settings}, "tokens_per_s", "hit_rate", "cache_bytes"}; None: forget it."""
        others = {name: value for name, value in self._tuned.items() if name != model}
        self._write(self._own, others if found is None else {**others, model: dict(found)})

    def _write(self, own: tuple[Preset, ...], tuned: dict[str, Any]) -> None:
        content = {
            "version": VERSION,
            WRITER_KEY: program_version(),
            "presets": [one.to_json() for one in own],
            "tuned": tuned,
        }
        atomic_write(self._path, json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8"))
        self._own, self._tuned = own, tuned

    def _read(self) -> None:
        if not self._path.exists():
            return
        try:
            content = _migrated(json.loads(self._path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            aside = put_aside(self._path)
            self.note = tr("Your presets could not be read ({problem}). They are kept as {name}.").format(
                problem=problem, name=aside.name
            )
            return
        self._own, broken = read_presets(content["presets"], own=True)
        self._tuned = {name: value for name, value in content["tuned"].items() if isinstance(value, dict)}
        if broken:
            self.note = trn(
                "One of your presets could not be read and was left out.",
                "{n} of your presets could not be read and were left out.",
                broken,
            )


def _migrated(content: dict[str, Any]) -> dict[str, Any]:
    version = content["version"]
    if not isinstance(version, int) or version > VERSION:
        raise ValueError(f"made by a newer version ({version})")
    while content["version"] < VERSION:
        content = {**MIGRATIONS[content["version"]](content), "version": content["version"] + 1}
    if not isinstance(content["presets"], list) or not isinstance(content["tuned"], dict):
        raise ValueError("not a presets file")
    return content
