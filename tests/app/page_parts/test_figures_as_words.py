"""Figures in words: what a person reads must be right and in their language."""

from __future__ import annotations

import pytest

from app.models.estimate import Machine, Range, estimate
from app.models.shape import ModelShape
from app.page_parts.figures_as_words import (
    duration_text,
    estimate_details,
    estimate_sentence,
    number_text,
    percent_text,
    range_text,
    size_text,
)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000_000, "1 MB"),
        (17_100_000_000, "17.1 GB"),
        (404.4e9, "404 GB"),
        (1.5e12, "1.5 TB"),
    ],
)
def test_sizes(nbytes: float, text: str) -> None:
    assert size_text(nbytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 second"), (40, "40 seconds"), (720, "12 minutes"), (12_000, "3 h 20 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_ranges_do_not_pretend_precision() -> None:
    assert range_text(Range(4.2, 5.4)) == "4–5" and range_text(Range(4.9, 5.1)) == "5"
    assert range_text(Range(0.31, 0.78)) == "0.3–0.8"
    assert percent_text(Range(0.85, 0.92)) == "85–92 %" and number_text(3.0) == "3"


def test_the_sentence_says_speed_and_memory_and_the_tooltip_where_they_come_from() -> None:
    shape = ModelShape(int(18.6e9), int(17.6e9), 128, 8, 98_304, 32_768)
    judged = estimate(shape, Machine(int(16e9), int(12e9)))
    sentence = estimate_sentence(judged, int(16e9))
    assert "words a second" in sentence and "of your 16 GB" in sentence
    assert "not measured yet" in estimate_details(judged)
    crawling = estimate(ModelShape(int(600e9), int(580e9), 384, 8, 98_304, 32_768), Machine(int(4e9), int(2e9)))
    assert "for a word" in estimate_sentence(crawling, int(4e9)) and "too small" in estimate_details(crawling)
