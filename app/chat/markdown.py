"""Markdown as a flat list of things to draw (pure, no Qt). Raw HTML is shown as the text it is; images become links."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

BULLETS = ("•", "◦", "▪")


@dataclass(frozen=True)
class Run:
    """A stretch of text in one style; `text` may contain line breaks. `link` is the target, "" for none."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    link: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, heading (`heading` 1..6), or ruled line (`rule`).

    `depth`: list nesting; `marker`: bullet or number in front ("" for a paragraph that goes on in the same item);
    `quote`: nesting of block quotes; `tight`: no space above, as between the items of a tight list.
    """

    runs: tuple[Run, ...] = ()
    heading: int = 0
    rule: bool = False
    depth: int = 0
    marker: str = ""
    quote: int = 0
    tight: bool = False

    @property
    def plain(self) -> str:
        """The words without their style."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True)
class Table:
    """A table: rows of cells of runs, the first row is the header; `align` "left", "center" or "right" per column."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]
    align: tuple[str, ...]
    depth: int = 0


@dataclass(frozen=True)
class Code:
    """A code block; `closed` is False while its end has not arrived."""

    text: str
    language: str = ""
    depth: int = 0
    closed: bool = True


Block = Paragraph | Table | Code
References = MutableMapping[str, Any]
"""What markdown-it keeps between parses: link targets defined elsewhere in the text."""

_parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])


def parse(text: str, references: References | None = None) -> list[tuple[int, list[Block]]]:
    """Top-level blocks of `text` in order: (line where it starts, what to draw)."""
    tokens = _parser.parse(text, references if references is not None else {})
    return [(_first_line(group), list(_Walker().walk(group))) for group in _top_level(tokens)]


def list_items(text: str) -> list[int]:
    """Lines at which the items of the list that is `text` start; empty when `text` is not one list."""
    tokens = _parser.parse(text, {})
    if not tokens or not tokens[0].type.endswith("_list_open"):
        return []
    return [one.map[0] for one in tokens if one.type == "list_item_open" and one.level == 1 and one.map]


def is_right_to_left(text: str) -> bool:
    """Direction of a paragraph: that of its first letter with one (Unicode's rules P2 and P3)."""
    for letter in text:
        kind = unicodedata.bidirectional(letter)
        if kind in ("L", "R", "AL"):
            return kind != "L"
    return False


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _first_line(group: Sequence[Token]) -> int:
    return group[0].map[0] if group[0].map else 0


@dataclass
class _List:
    ordered: bool
    number: int
    tight_next: bool = False


@dataclass
class _Walker:
    """Flattens the tokens of one top-level block."""

    lists: list[_List] = field(default_factory=list)
    quote: int = 0
    marker: str = ""
    heading: int = 0
    rows: list[tuple[tuple[Run, ...], ...]] = field(default_factory=list)
    cells: list[tuple[Run, ...]] = field(default_factory=list)
    align: list[str] = field(default_factory=list)
    in_table: bool = False
    hidden: bool = False

    def walk(self, tokens: Sequence[Token]) -> Iterator[Block]:
        for token in tokens:
            block = self._one(token)
            if block is not None:
                yield block

    def _one(self, token: Token) -> Block | None:
        kind = token.type
        if kind == "inline":
            return self._inline(token)
        if kind in ("fence", "code_block"):
            words = token.info.split()
            return Code(token.content.removesuffix("\n"), words[0] if words else "", len(self.lists))
        if kind == "hr":
            return Paragraph(rule=True, depth=len(self.lists), quote=self.quote)
        if kind == "table_close":
            return self._table()
        self._structure(kind, token)
        return None

    def _structure(self, kind: str, token: Token) -> None:
        if kind in ("bullet_list_open", "ordered_list_open"):
            self.lists.append(_List(kind.startswith("ordered"), int(token.attrGet("start") or 1)))
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self.lists.pop()
        elif kind == "list_item_open":
            self._begin_item()
        elif kind in ("blockquote_open", "blockquote_close"):
            self.quote += token.nesting
        elif kind == "heading_open":
            self.heading = int(token.tag[1])
        elif kind == "paragraph_open":
            self.hidden = token.hidden
        elif kind == "table_open":
            self.in_table = True
        elif kind in ("th_open", "td_open") and len(self.rows) == 0:
            self.align.append(str(token.attrGet("style") or "text-align:left").partition(":")[2])
        elif kind == "tr_close":
            self.rows.append(tuple(self.cells))
            self.cells = []

    def _begin_item(self) -> None:
        innermost = self.lists[-1]
        if innermost.ordered:
            self.marker = f"{innermost.number}."
            innermost.number += 1
        else:
            self.marker = BULLETS[min(len(self.lists), len(BULLETS)) - 1]

    def _inline(self, token: Token) -> Block | None:
        runs = inline_runs(token.children or [])
        if self.in_table:
            self.cells.append(runs)
            return None
        heading, self.heading = self.heading, 0
        marker, self.marker = self.marker, ""
        return Paragraph(runs, heading, False, len(self.lists), marker, self.quote, self.hidden)

    def _table(self) -> Table:
        rows, align = tuple(self.rows), tuple(self.align)
        self.rows, self.align, self.in_table = [], [], False
        return Table(rows, align, len(self.lists))


def inline_runs(children: Sequence[Token]) -> tuple[Run, ...]:
    """Inline tokens as runs of one style each."""
    style, runs = Run(""), []
    links: list[str] = []
    for token in children:
        kind = token.type
        if kind in ("strong_open", "strong_close"):
            style = replace(style, bold=token.nesting > 0)
        elif kind in ("em_open", "em_close"):
            style = replace(style, italic=token.nesting > 0)
        elif kind in ("s_open", "s_close"):
            style = replace(style, strike=token.nesting > 0)
        elif kind == "link_open":
            links.append(str(token.attrGet("href") or ""))
            style = replace(style, link=links[-1])
        elif kind == "link_close":
            links.pop()
            style = replace(style, link=links[-1] if links else "")
        elif kind in ("softbreak", "hardbreak"):
            runs.append(replace(style, text="\n"))
        elif kind == "code_inline":
            runs.append(replace(style, text=token.content, code=True))
        elif kind == "image":
            runs.append(replace(style, text=token.content or "image", link=str(token.attrGet("src") or "")))
        elif token.content:
            runs.append(replace(style, text=token.content))
    return tuple(runs)
