"""Finding markers in text that comes in pieces: nothing that may turn out to begin one is given out early."""

from __future__ import annotations

from collections.abc import Iterable


def first_marker(text: str, markers: Iterable[str]) -> tuple[int, str] | None:
    """Position and text of the marker that comes first (the longest of those that begin there), or None."""
    found = [(text.find(marker), -len(marker), marker) for marker in markers if marker in text]
    if not found:
        return None
    at, _, marker = min(found)
    return at, marker


def held_back(text: str, markers: Iterable[str]) -> int:
    """Length of the longest end of `text` that is a proper beginning of a marker."""
    longest = 0
    for marker in markers:
        for length in range(min(len(text), len(marker) - 1), longest, -1):
            if text.endswith(marker[:length]):
                longest = length
                break
    return longest
