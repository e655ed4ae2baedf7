"""The tuner's English in a German window: whole sentences, names put together from parts, and what nobody knows."""

from __future__ import annotations

import pytest

from app.i18n import choose_language
from app.wizard.phrases import in_words, name_in_words
from autotune.arms import ArmRecord
from autotune.race import Verdict
from autotune.reasons import reason
from autotune.result import ArmState, Interval

RATIO = Interval(middle=1.2, low=1.1, high=1.3, count=4)
ARMS = {name: ArmRecord(name, {}, name == "defaults", None, ArmState.KEPT) for name in ("defaults", "8 read threads")}
CRASHED = {"lookahead 2": ArmRecord("lookahead 2", {}, False, None, ArmState.CRASHED)}


def verdict(because: str, best: str | None = "8 read threads", ratio: Interval | None = RATIO) -> Verdict:
    return Verdict(best or "defaults", because, best, ratio)


@pytest.mark.parametrize(
    "sentence",
    [
        reason(verdict("faster"), ARMS, "defaults"),
        reason(verdict("too few"), ARMS, "defaults"),
        reason(verdict("too few", ratio=RATIO.model_copy(update={"count": 1})), ARMS, "defaults"),
        reason(verdict("slower"), ARMS, "defaults"),
        reason(verdict("nothing", None, None), CRASHED, "defaults"),
        reason(verdict("nothing", None, None), {}, "defaults"),
        "Measuring: Kind of drive",
        "Measuring 8 read threads, lookahead 2",
        "Measuring with 2048 MiB for experts",
        "Drive: 2.41 GB/s at queue depth 16",
    ],
)
def test_the_tuners_sentences_are_german_and_keep_their_figures(sentence: str) -> None:
    """Put together by the tuner itself, so that a sentence it changes is noticed here."""
    assert in_words(sentence) == sentence
    choose_language("de")
    translated = in_words(sentence)
    assert translated != sentence and "settings" not in translated and "threads" not in translated.lower()[:9]
    assert sorted(filter(str.isdigit, translated)) == sorted(filter(str.isdigit, sentence))


@pytest.mark.parametrize(
    "name", ["defaults", "4 compute threads", "1 read thread", "lookahead 2", "read-ahead bar 0.25", "prompt batch 512",
             "cache of 2048 MiB", "automatic cache", "8 early reads"],
)  # fmt: skip
def test_every_part_of_a_candidates_name_is_known(name: str) -> None:
    choose_language("de")
    assert name_in_words(name) != name


def test_a_name_of_several_parts_is_translated_part_by_part() -> None:
    choose_language("de")
    assert name_in_words("8 read threads, lookahead 2") == "8 Lese-Threads, Vorausschau 2"
    assert name_in_words("8 read threads, something new") == "8 Lese-Threads, something new"


def test_what_is_not_known_stays_as_it_was_written() -> None:
    choose_language("de")
    assert in_words("the moon is full, 3 times") == "the moon is full, 3 times" and in_words("") == ""
