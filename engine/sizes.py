"""Sizes as people write them: `4000MiB`, `4G`, `25%`; the one place that reads and prints them.

A percentage is a share of a model's expert bytes, so it is only known once the model is: `parse_size` gives a
`Size`, and `Size.resolve` turns that into bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.errors import SettingsError

# K, M, G, T alone are the binary units, as memory is sold and as other programs read them; KB, MB, ... are decimal.
_UNITS = {"": 1, "b": 1} | {
    f"{letter}{suffix}": base**power
    for power, letter in enumerate("kmgt", start=1)
    for suffix, base in (("", 1024), ("ib", 1024), ("b", 1000))
}
_SIZE = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>[a-zA-Z]*|%)\s*")
_LARGEST = 1 << 62


@dataclass(frozen=True)
class Size:
    """A size before the model is known: either `nbytes` or `share` (0 to 1) of the expert bytes is set."""

    nbytes: int | None = None
    share: float | None = None

    def resolve(self, expert_bytes: int) -> int:
        """Bytes meant, for a model whose routed experts take `expert_bytes`."""
        if self.share is not None:
            return round(self.share * expert_bytes)
        return self.nbytes or 0


def parse_size(text: str) -> Size:
    """Read `text` (a number and a unit, or a percentage of the expert bytes); raises `SettingsError`."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise SettingsError(f"'{text}' is not a size; write for example 4000MiB, 4G or 25%")
    number, unit = float(match["number"]), match["unit"].lower()
    if unit == "%":
        if number > 100:
            raise SettingsError(f"'{text}' is more than all experts; a share is at most 100%")
        return Size(share=number / 100)
    if unit not in _UNITS:
        raise SettingsError(f"'{text}' has an unknown unit '{match['unit']}'; use KiB, MiB, GiB, TiB or %")
    if number * _UNITS[unit] > _LARGEST:
        raise SettingsError(f"'{text}' is larger than any memory")
    return Size(nbytes=round(number * _UNITS[unit]))


def format_bytes(nbytes: float) -> str:
    """Print a size with three significant digits and a binary unit: `3.91 GiB`."""
    value = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1000:
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} TiB"
