"""A former tuning of a model, and what has changed since. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.i18n import tr
from app.wizard.progress import chosen_arm

CHANGES = (
    "the processor", "the number of usable cores", "the amount of memory", "the memory limit", "the graphics cards",
    "the graphics driver", "the drive that holds the model", "the operating system", "the model's file", "the model",
    "the model's weights", "Gannet's version", "llama.cpp's version", "the form of the stored result",
)  # fmt: skip
"""What a tuning depends on, in the tuner's words (source texts for `tr`)."""
_CHANGE = re.compile(r"(.+?) \(was (.*), is (.*)\)")


@dataclass(frozen=True)
class StoredTuning:
    """The kept `result`, as the tuner wrote it; with anything in `stale` (changed since) it does not hold any more."""

    result: Mapping[str, Any]
    stale: tuple[str, ...]

    @property
    def tokens_per_s(self) -> float:
        """Speed of the settings that were chosen, NaN when it was not kept."""
        speed = chosen_arm(self.result).get("decode_tok_s")
        middle = speed.get("middle") if isinstance(speed, Mapping) else None
        return float(middle) if isinstance(middle, (int, float)) else math.nan

    @property
    def digest(self) -> str:
        """Identity of machine, model and engine of that time."""
        found = self.result.get("fingerprint")
        return str(found.get("digest") or "") if isinstance(found, Mapping) else ""


def stored_tuning(answer: Any) -> StoredTuning | None:
    """What the engine answered to "was this model tuned?"; None when it was not."""
    stored = answer.get("stored") if isinstance(answer, Mapping) else None
    if not isinstance(stored, Mapping) or not isinstance(stored.get("result"), Mapping):
        return None
    stale = stored.get("stale")
    return StoredTuning(stored["result"], tuple(map(str, stale)) if isinstance(stale, list) else ())


def change_words(line: str) -> str:
    """One change in the window's language: "the amount of memory (was 16 GiB, is 32 GiB)"."""
    found = _CHANGE.fullmatch(line)
    if found is None:
        return line
    what, was, now = found.groups()
    return tr("{what} (was {was}, is {now})").format(what=tr(what), was=was, now=now)
