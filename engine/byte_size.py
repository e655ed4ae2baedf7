"""Sizes in bytes, written for people."""

from __future__ import annotations

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def format_bytes(nbytes: float) -> str:
    """Three figures in decimal units, as drives and downloads are labelled: "17.1 GB", "512 MB", "0 bytes"."""
    size, unit = float(nbytes), 0
    while abs(size) >= 999.5 and unit < len(_UNITS) - 1:
        size /= 1000
        unit += 1
    if unit == 0 or abs(size) >= 99.95:
        return f"{size:,.0f} {_UNITS[unit]}"
    return f"{size:.{1 if abs(size) >= 9.995 else 2}f} {_UNITS[unit]}"
