"""Design tokens, declared once: a name and its colour in light, dark and high contrast (pure, no Qt).

Text tokens are named after the surface they are read on; `READABLE_PAIRS` lists every foreground/background pair the
program uses, and a test holds each of them to a contrast of at least 4.5:1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["light", "dark", "contrast"]
GRID = 8
"""Spacing unit in device-independent pixels; margins and gaps are multiples (or halves) of it."""


@dataclass(frozen=True)
class Token:
    """One colour as `#rrggbb` in each mode."""

    light: str
    dark: str
    contrast: str

    def in_mode(self, mode: Mode) -> str:
        """The colour of this token in `mode`."""
        return {"light": self.light, "dark": self.dark, "contrast": self.contrast}[mode]


TOKENS: dict[str, Token] = {
    # surfaces, from the back to the front
    "window": Token("#FFFFFF", "#16191C", "#000000"),
    "sidebar": Token("#F3F4F5", "#101315", "#000000"),
    "panel": Token("#F7F8F9", "#1B1F23", "#000000"),
    "raised": Token("#FFFFFF", "#22272C", "#000000"),
    "field": Token("#FFFFFF", "#1E2327", "#000000"),
    "code": Token("#F5F6F7", "#111417", "#000000"),
    "bubble": Token("#EDF1F3", "#242B31", "#101010"),
    "hover": Token("#E7EAEC", "#262C31", "#303030"),
    "pressed": Token("#DCE1E4", "#30373D", "#404040"),
    "selected": Token("#DDE7EC", "#22353F", "#303030"),
    # lines
    "line": Token("#DFE3E6", "#2C3338", "#FFFFFF"),
    "line_strong": Token("#8A949B", "#69747C", "#FFFFFF"),
    # words
    "text": Token("#1B2126", "#E4E8EB", "#FFFFFF"),
    "text_soft": Token("#56616A", "#A4AFB7", "#FFFFFF"),
    "link": Token("#0B5C86", "#7FC4E8", "#FFFF00"),
    # the one accent: gannet gold on deep water
    "accent": Token("#E0A83C", "#E0A83C", "#FFD24A"),
    "accent_text": Token("#12303F", "#12303F", "#000000"),
    "accent_ink": Token("#85590A", "#E8B650", "#FFD24A"),
    "deep": Token("#12303F", "#12303F", "#000000"),
    "deep_text": Token("#F4F7F8", "#F4F7F8", "#FFFFFF"),
    "focus": Token("#B07A14", "#E0A83C", "#FFFF00"),
    # states, always beside a word or a shape
    "good": Token("#1C7040", "#6CCB8F", "#7CFF9E"),
    "warn": Token("#8A5A00", "#E9B75C", "#FFE08A"),
    "bad": Token("#B3261E", "#F28B82", "#FFA9A3"),
    "good_soft": Token("#E3F3E9", "#1A2E22", "#000000"),
    "warn_soft": Token("#FBF0DA", "#33290F", "#000000"),
    "bad_soft": Token("#FBE6E4", "#3A1E1C", "#000000"),
    # series in plots, told apart in grey as well
    "plot_1": Token("#B07A14", "#E0A83C", "#FFD24A"),
    "plot_2": Token("#1F6E96", "#5DB1DB", "#66D9FF"),
    "plot_3": Token("#1C7040", "#6CCB8F", "#7CFF9E"),
    "plot_4": Token("#8B4A9C", "#C792D6", "#F0A8FF"),
    "plot_5": Token("#B3261E", "#F28B82", "#FFA9A3"),
    "plot_grid": Token("#E3E7EA", "#2A3136", "#808080"),
    # code highlighting
    "syn_keyword": Token("#8B2E7A", "#D99BD0", "#FF9BF0"),
    "syn_string": Token("#2B6A34", "#93CF9B", "#9BFFA8"),
    "syn_number": Token("#8A4B00", "#E2B07A", "#FFD08A"),
    "syn_comment": Token("#5A666E", "#98A4AC", "#D0D0D0"),
    "syn_name": Token("#0B5C86", "#86C5EA", "#8AD8FF"),
    "syn_error": Token("#B3261E", "#F28B82", "#FFA9A3"),
}

_SURFACES = ("window", "sidebar", "panel", "raised", "field", "bubble", "hover", "selected", "pressed")
READABLE_PAIRS: tuple[tuple[str, str], ...] = (
    *((word, surface) for word in ("text", "text_soft") for surface in _SURFACES),
    *((word, surface) for word in ("link", "accent_ink") for surface in ("window", "panel", "raised", "bubble")),
    ("accent_text", "accent"),
    ("deep_text", "deep"),
    *(
        (state, surface)
        for state in ("good", "warn", "bad")
        for surface in ("window", "panel", "raised", f"{state}_soft")
    ),
    *(("text", f"{state}_soft") for state in ("good", "warn", "bad")),
    *((name, "code") for name in TOKENS if name.startswith("syn_")),
    ("text", "code"),
    ("text_soft", "code"),
)
"""(foreground, background) pairs that carry text anywhere in the program."""


def contrast(first: str, second: str) -> float:
    """WCAG 2.1 contrast ratio (1..21) of two `#rrggbb` colours."""
    bright, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
