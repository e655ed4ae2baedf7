"""Presets: named sets of engine settings, those that come with the program and the user's own. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BUILT_IN = Path(__file__).resolve().parents[2] / "assets" / "presets.json"
DEFAULT_KEY = "balanced"


@dataclass(frozen=True)
class Preset:
    """A name for what differs from the engine's defaults.

    Attributes:
        key: identity; the user's own begin with "own-".
        title, summary: shown; of a built-in preset they are source texts for `tr`.
        settings: setting -> value; only what differs from the defaults. A value `{"share_of_memory": 0.5}` is a number
            of bytes that depends on the machine.
        own: whether the user made it.
        tuned: whether the values were measured for one model on this machine.
    """

    key: str
    title: str
    summary: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False
    tuned: bool = False

    def resolved(self, memory_bytes: int) -> dict[str, Any]:
        """Plain values for a machine with this much memory; a share of an unknown amount is left to the engine."""
        found = {}
        for name, value in self.settings.items():
            if isinstance(value, Mapping):
                if memory_bytes > 0:
                    found[name] = int(memory_bytes * float(value["share_of_memory"]))
            else:
                found[name] = value
        return found

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"key": self.key, "title": self.title, "summary": self.summary, "settings": dict(self.settings)}


def read_presets(items: Iterable[Any], *, own: bool) -> tuple[tuple[Preset, ...], int]:
    """Presets from JSON values and how many could not be read."""
    found, broken = [], 0
    for item in items:
        try:
            settings = item["settings"]
            if not isinstance(settings, dict):
                raise TypeError("settings is not an object")
            preset = Preset(str(item["key"]), str(item["title"]), str(item.get("summary", "")), settings, own)
            preset.resolved(1 << 30)
        except (KeyError, TypeError, ValueError):
            broken += 1
        else:
            found.append(preset)
    return tuple(found), broken


def built_in_presets(path: Path = BUILT_IN) -> tuple[Preset, ...]:
    """The presets that come with the program."""
    return read_presets(json.loads(path.read_text(encoding="utf-8"))["presets"], own=False)[0]


def own_key(title: str, taken: Iterable[str]) -> str:
    """A new key for a user's preset."""
    base = "own-" + ("".join(letter if letter.isalnum() else "-" for letter in title.lower()).strip("-") or "preset")
    used, count, key = set(taken), 1, base
    while key in used:
        count += 1
        key = f"{base}-{count}"
    return key


def differing(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Those values that are not the default; what a preset stores and what the form marks."""
    return {name: value for name, value in values.items() if name in defaults and value != defaults[name]}
