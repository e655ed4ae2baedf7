"""Sizes, rates and times as a person reads them, in the chosen language. Pure."""

from __future__ import annotations

from app.i18n import tr, trn
from app.models.estimate import Estimate, Range, Speed

_SIZES = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))

SPEED_WORDS: dict[Speed, str] = {
    Speed.FAST: "Fast here",
    Speed.USABLE: "Usable here",
    Speed.SLOW: "Slow here",
    Speed.TOO_SLOW: "Too slow here",
}
"""Plain word (source text for `tr`) of a speed."""

SPEED_ROLES: dict[Speed, str] = {
    Speed.FAST: "good",
    Speed.USABLE: "good",
    Speed.SLOW: "warn",
    Speed.TOO_SLOW: "bad",
}
"""Theme role of a speed; always shown beside the word."""


def number_text(value: float, digits: int = 1) -> str:
    """A number with the language's decimal mark, without a fraction of zero."""
    text = f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace(".", tr("."))


def size_text(nbytes: float) -> str:
    """A number of bytes in decimal units, as drives and download pages give it: "17.1 GB"."""
    for unit, factor in _SIZES:
        if nbytes >= factor * 0.9995:
            value = nbytes / factor
            return f"{number_text(value, 0 if value >= 100 else 1)} {unit}"
    return f"{int(nbytes)} B"


def rate_text(bytes_per_s: float) -> str:
    """A transfer rate: "42 MB/s"."""
    return f"{size_text(bytes_per_s)}/s"


def duration_text(seconds: float) -> str:
    """A time span in its largest sensible unit: "40 seconds", "12 minutes", "3 h 20 min"."""
    if seconds < 90:
        return trn("{n} second", "{n} seconds", max(1, round(seconds)))
    minutes = round(seconds / 60)
    if minutes < 90:
        return trn("{n} minute", "{n} minutes", minutes)
    return tr("{hours} h {minutes} min").format(hours=minutes // 60, minutes=minutes % 60)


def range_text(values: Range) -> str:
    """A range without false precision: "4–5", "0.3–0.8", or one number where both ends read the same."""
    digits = 0 if values.high >= 4 else 1
    low, high = number_text(values.low, digits), number_text(values.high, digits)
    return low if low == high else f"{low}–{high}"


def percent_text(values: Range) -> str:
    """A range of shares 0..1: "85–92 %"."""
    low, high = round(values.low * 100), round(values.high * 100)
    return f"{low} %" if low == high else f"{low}–{high} %"


def estimate_sentence(estimate: Estimate, total_memory: int) -> str:
    """The honest sentence beside a model, without its plain word: "about 4-5 words a second, needs 6 GB of your 16"."""
    speed = tr("about {range} words a second").format(range=range_text(estimate.words_per_s))
    if estimate.tokens_per_s.high < 0.5:
        seconds = 1 / max(1e-6, estimate.words_per_s.middle)
        speed = tr("about {time} for a word").format(time=duration_text(seconds))
    memory = tr("needs {needed} of your {total}").format(
        needed=size_text(estimate.memory_bytes), total=size_text(total_memory)
    )
    return f"{speed}, {memory}"


def estimate_details(estimate: Estimate) -> str:
    """The tooltip: what the sentence rests on."""
    source = tr("Measured on this computer.") if estimate.measured else tr("Worked out from sizes, not measured yet.")
    lines = [
        tr("{range} tokens per second").format(range=range_text(estimate.tokens_per_s)),
        tr("{range} of the experts found in memory").format(range=percent_text(estimate.hit_rate)),
        tr("{size} for experts, {least} at the very least in all").format(
            size=size_text(estimate.cache_bytes), least=size_text(estimate.minimum_bytes)
        ),
        source,
    ]
    if not estimate.fits:
        lines.append(tr("The memory that is free now is too small even for the weights every token needs."))
    return "\n".join(lines)
