"""What is shown of an answer: whole characters, nothing of a stop string, nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text_stream import TextStream


def test_a_character_spread_over_tokens_is_shown_once_whole() -> None:
    stream = TextStream()
    assert [stream.feed(bytes([byte])) for byte in "é🦊".encode()] == ["", "é", "", "", "", "🦊"]


def test_a_stop_string_ends_the_text_before_it_even_when_tokens_split_it() -> None:
    stream = TextStream(["</end>"])
    assert stream.feed(b"ready</e") == "ready"
    assert not stream.stopped
    assert stream.feed(b"nd> more") == ""
    assert stream.stopped
    assert stream.feed(b"more") == ""
    assert stream.finish() == ""


def test_what_only_looked_like_a_stop_string_is_shown_after_all() -> None:
    stream = TextStream(["</end>"])
    assert stream.feed(b"a</en") == "a"
    assert stream.feed(b"ough>") == "</enough>"


def test_the_beginning_of_a_stop_string_at_the_very_end_is_shown() -> None:
    stream = TextStream(["STOP"])
    assert stream.feed(b"go ST") == "go "
    assert stream.finish() == "ST"


def test_the_earliest_of_several_stop_strings_counts() -> None:
    stream = TextStream(["world", "lo w"])
    assert stream.feed(b"hello world") == "hel"
    assert stream.stopped


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    stream = TextStream()
    assert stream.feed(b"a\xffb") == "a\ufffdb"
    assert stream.feed("ü".encode()[:1]) == ""
    assert stream.finish() == "\ufffd"


@given(
    st.text(max_size=60),
    st.lists(st.integers(1, 5), max_size=60),
    st.lists(st.text(min_size=1, max_size=4), max_size=3),
)
def test_however_the_bytes_are_cut_the_text_is_the_same(text: str, cuts: list[int], stop: list[str]) -> None:
    text = text.encode("utf-8", "replace").decode()
    data, stream, shown = text.encode(), TextStream(stop), ""
    for cut in [*cuts, len(data)]:
        piece, data = data[:cut], data[cut:]
        shown += stream.feed(piece)
    shown += stream.finish()
    ends = [at for at in (text.find(end) for end in stop) if at >= 0]
    # Cut apart, a later-beginning stop string may be complete before an earlier-beginning one: both are right ends.
    if ends:
        assert text.startswith(shown)
        assert len(shown) in {text.find(end) for end in stop}
    else:
        assert shown == text


@pytest.mark.parametrize("stop", [[], [""], ["", ""]])
def test_an_empty_stop_string_stops_nothing(stop: list[str]) -> None:
    stream = TextStream(stop)
    assert stream.feed(b"text") + stream.finish() == "text"
