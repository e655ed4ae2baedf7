"""Where the window opens: where it was, but always on a screen that is there (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Box:
    """A rectangle in device-independent pixels."""

    x: int
    y: int
    width: int
    height: int

    def overlap(self, other: Box) -> int:
        """Area they share."""
        wide = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        high = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(0, wide) * max(0, high)


def placed(saved: Mapping[str, Any], screens: Sequence[Box], default: tuple[int, int], least: tuple[int, int]) -> Box:
    """The window's rectangle: the saved one moved and shrunk into the screen it overlaps most (the first screen when it
    overlaps none), or `default` size in the middle of the first screen when nothing sensible was saved."""
    wanted = _saved_box(saved)
    if wanted is None:
        screen = screens[0]
        width, height = min(default[0], screen.width), min(default[1], screen.height)
        return Box(screen.x + (screen.width - width) // 2, screen.y + (screen.height - height) // 2, width, height)
    screen = max(screens, key=wanted.overlap)
    width = min(max(wanted.width, least[0]), screen.width)
    height = min(max(wanted.height, least[1]), screen.height)
    x = min(max(wanted.x, screen.x), screen.x + screen.width - width)
    y = min(max(wanted.y, screen.y), screen.y + screen.height - height)
    return Box(x, y, width, height)


def _saved_box(saved: Mapping[str, Any]) -> Box | None:
    values = [saved.get(name) for name in ("x", "y", "width", "height")]
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return None
    box = Box(*values)  # type: ignore[arg-type]
    return box if box.width > 0 and box.height > 0 else None
