"""The tuner's sentences in the window's language. The tuner writes English; what is not in the list stays so. Pure."""

from __future__ import annotations

import functools
import re

from app.i18n import tr

PHRASES = (
    "Loading the model",
    "Computing the prompts to measure with",
    "Measuring: {what}",
    "Measuring a whole turn: {what}",
    "Measuring with {n} MiB for experts",
    "Measuring {what}",
    "{n} candidates, {m} tokens a run",
    "Drive: {rate} GB/s at queue depth {n}",
    "{what} answers {n} times as fast as the settings before (at least {low} with 95 % confidence).",
    "{what} answers {n} times as fast as the settings before (at least {low} with 95 % confidence), because it waits"
    " {ms} ms less per token for the drive.",
    "{what} answers {n} times as fast as the settings before (at least {low} with 95 % confidence), because it spends"
    " less time on computing and waiting for threads.",
    "The time was too short to be sure: {what} looked {n} times as fast in {m} comparisons, so the settings stay as"
    " they were.",
    "The time was too short to be sure: {what} looked {n} times as fast in 1 comparison, so the settings stay as"
    " they were.",
    "Nothing was reliably faster: the best candidate, {what}, reached {n} times the speed ({low} to {high}), so the"
    " settings stay as they were.",
    "No candidate finished ({what} failed or came to nothing), so the settings stay as they were.",
    "There was nothing to compare, so the settings stay as they were.",
    "computing a prompt takes long here: short ones are used",
    "computing a prompt takes long here: only {n} of 3 are used",
    "there was no time to compare settings that need a new load",
    "no time was left to measure this: {what}",
    "answers are computed on the processor: graphics cards are measured and not used",
    "The time was too short to load the model and to measure it, so the settings stay as they were.",
    "The tuning was cancelled; the settings stay as they were.",
)  # fmt: skip
"""Whole sentences, as the tuner puts them together; a field called `what` is translated too."""

NAMES = (
    "Defaults", "automatic compute threads", "1 compute thread", "{n} compute threads", "automatic read threads",
    "1 read thread", "{n} read threads", "lookahead {n}", "automatic cache", "cache of {n} MiB",
    "{n} MiB of experts in VRAM", "read-ahead bar {n}", "automatic read-ahead bar", "1 early read", "{n} early reads",
    "automatic early reads", "lookahead width {n}", "automatic lookahead width", "prompt batch {n}",
    "{n} layers on the graphics cards", "1 layer on the graphics cards",
    "Memory bandwidth", "Expert compute", "Processor", "Drive", "Graphics cards", "Memory", "Kind of drive",
    "Bandwidth", "Compute", "Cores", "Gpus", "Volume",
)  # fmt: skip
"""Names of probes, and the parts of candidates' names."""


def in_words(text: str) -> str:
    """A sentence of the tuner, translated where it is known."""
    return _known(text, PHRASES) or name_in_words(text)


def name_in_words(text: str) -> str:
    """A candidate's or probe's name: "16 read threads, lookahead 2"."""
    return ", ".join(map(_part_in_words, text.split(", ")))


def _part_in_words(part: str) -> str:
    for form in (part, part[:1].lower() + part[1:], part[:1].upper() + part[1:]):
        found = _known(form, NAMES)
        if found and found != form:
            return found
    return part


def _known(text: str, sources: tuple[str, ...]) -> str:
    for source in sources:
        found = _pattern(source).fullmatch(text)
        if found:
            fields = {key: name_in_words(value) if key == "what" else value for key, value in found.groupdict().items()}
            return tr(source).format(**fields)
    return ""


@functools.cache
def _pattern(source: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", source)
    made = "".join(
        re.escape(part) if at % 2 == 0 else f"(?P<{part}>{'.+?' if part == 'what' else r'[^ ]+'})"
        for at, part in enumerate(parts)
    )
    return re.compile(made, re.DOTALL)
