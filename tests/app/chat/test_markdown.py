"""Markdown, whole and in pieces."""

from __future__ import annotations

import random
import time

import pytest

from app.chat.block_stream import BlockStream
from app.chat.markdown import Block, Code, Paragraph, Run, Table, is_right_to_left, parse

SAMPLE = """\
# Title

Words with **bold**, *italic*, `code` and a [link](https://example.org).
A second line.

1. First
   ```bash
   ls -l
   ```
   goes on
2. Second
   - inner
   - other
10. Tenth

> quoted
> words

| a | b |
|:--|--:|
| 1 | 2 |

```python
for x in y:
    print("``` not the end")

```
---
<b>not HTML</b>

Setext
------
- one
- two
- three
- four
- five
- six
- seven
- eight

the end"""


def blocks(text: str) -> list[Block]:
    return [block for _, group in parse(text) for block in group]


def streamed(text: str, sizes: random.Random) -> list[Block]:
    stream, found, at = BlockStream(), [], 0
    while at < len(text):
        size = sizes.randint(1, 9)
        found += stream.feed(text[at : at + size]).final
        at += size
    return [*found, *stream.finish().final]


@pytest.mark.parametrize("seed", range(12))
def test_pieces_give_what_the_whole_gives(seed: int) -> None:
    """Else an answer looks different while it streams and when the chat is opened again."""
    assert streamed(SAMPLE, random.Random(seed)) == blocks(SAMPLE)


def test_what_is_drawn_at_any_moment_is_what_has_arrived() -> None:
    """Else words show late, twice or never."""
    stream, final, still_open = BlockStream(), [], ()
    for letter in SAMPLE:
        update = stream.feed(letter)
        final += update.final
        if update.final or update.open:
            still_open = update.open
    assert [*final, *still_open] == blocks(SAMPLE)


def test_a_piece_costs_the_same_late_and_early() -> None:
    """Else long answers get slower and slower."""

    def cost(stream: BlockStream, count: int) -> float:
        began = time.process_time()
        for number in range(count):
            stream.feed(f"word{number} " + ("\n\n" if number % 40 == 39 else ""))
        return time.process_time() - began

    stream = BlockStream()
    early = cost(stream, 400)
    for number in range(4_000):
        stream.feed(f"word{number} " + ("\n\n" if number % 40 == 39 else ""))
    assert cost(stream, 400) < 3 * early + 0.05


def test_structure_is_kept() -> None:
    """Else lists, tables and code come out as plain text."""
    found = blocks(SAMPLE)
    assert found[0] == Paragraph((Run("Title"),), heading=1)
    assert Code("ls -l", "bash", depth=1) in found
    numbers = [block.marker for block in found if isinstance(block, Paragraph) and block.depth == 1 and block.marker]
    assert numbers[:3] == ["1.", "2.", "3."]
    inner = next(block for block in found if isinstance(block, Paragraph) and block.plain == "inner")
    assert (inner.depth, inner.marker) == (2, "◦")
    table = next(block for block in found if isinstance(block, Table))
    assert table.align == ("left", "right") and table.rows[1][1] == (Run("2"),)
    quote = next(block for block in found if isinstance(block, Paragraph) and block.quote)
    assert quote.plain == "quoted\nwords"
    assert Code('for x in y:\n    print("``` not the end")\n', "python") in found


def test_html_is_text() -> None:
    """Else an answer could load pictures or fake the program's own words."""
    assert any(isinstance(block, Paragraph) and block.plain == "<b>not HTML</b>" for block in blocks(SAMPLE))


def test_a_fence_without_a_last_line_break_still_ends_the_code() -> None:
    """Else code is copied with its fence."""
    assert streamed("```py\nx\n```", random.Random(1)) == [Code("x", "py")]
    assert streamed("```py\nx", random.Random(1)) == [Code("x", "py")]


@pytest.mark.parametrize("text", ["-", "1.", "```", "```\n", "> ", "|a|\n|-|", "# ", "", "\n\n\n", "~~~\n~~~\n"])
def test_fragments_do_no_harm(text: str) -> None:
    """Else the first letters of a list end the answer."""
    stream = BlockStream()
    for letter in text:
        stream.feed(letter)
    stream.feed("x")
    stream.finish()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("hello", False), ("مرحبا hello", True), ("1. שלום", True), ("«hi» مرحبا", False), ("", False)],
)
def test_direction_follows_the_first_letter(text: str, expected: bool) -> None:
    """Else Arabic and Hebrew paragraphs are torn apart."""
    assert is_right_to_left(text) is expected
