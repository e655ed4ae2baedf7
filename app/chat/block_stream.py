"""Markdown that is still arriving, at a cost per piece that does not grow with what has already arrived (pure).

A top-level block is final once the first line of the next one is complete; only the last, open one is parsed again. An
open code block takes its lines as they come, and of a long list only the last item stays open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.chat.markdown import Block, Code, References, list_items, parse

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)\n")
LONG_LIST = 6
"""Items after which all but the last item of a list are final."""


@dataclass(frozen=True)
class Update:
    """What a piece changed: blocks that are final now, then the open ones that replace the previous open ones.

    While `appended` is set, nothing but that text was added to the open code block that is already there.
    """

    final: tuple[Block, ...] = ()
    open: tuple[Block, ...] = ()
    appended: str = ""


class BlockStream:
    """Takes pieces of Markdown and says what to draw."""

    def __init__(self) -> None:
        self._tail = ""
        self._fence: re.Pattern[str] | None = None
        self._code = ""
        self._language = ""
        self._references: References = {}

    def feed(self, piece: str) -> Update:
        """Take a piece of any size."""
        if self._fence is not None:
            return self._in_code(piece)
        self._tail += piece
        return self._outside(())

    def finish(self) -> Update:
        """The text ends here: everything is final."""
        if self._fence is not None:
            text = self._code.removesuffix("\n") if self._fence.match(self._tail) else self._code + self._tail
            block = Code(text, self._language)
            self._fence, self._code, self._tail = None, "", ""
            return Update(final=(block,))
        blocks = [block for _, group in parse(self._tail, self._references) for block in group]
        self._tail = ""
        return Update(final=tuple(blocks))

    def _outside(self, final: tuple[Block, ...]) -> Update:
        groups = parse(self._tail, self._references)
        if len(groups) > 1 and "\n" in _from_line(self._tail, groups[-1][0]):
            final += tuple(block for _, group in groups[:-1] for block in group)
            self._tail = _from_line(self._tail, groups[-1][0])
            groups = groups[-1:]
        elif groups:
            self._tail = _from_line(self._tail, groups[0][0])
        opening = _FENCE.match(self._tail) if groups and isinstance(next(iter(groups[0][1]), None), Code) else None
        if opening is not None:
            return self._begin_code(opening, final)
        items = list_items(self._tail) if groups and len(groups[0][1]) > LONG_LIST else []
        if len(items) > LONG_LIST:
            rest = _from_line(self._tail, items[-1])
            done = self._tail[: len(self._tail) - len(rest)]
            final += tuple(block for _, group in parse(done, self._references) for block in group)
            self._tail = rest
            groups = parse(rest, self._references)
        return Update(final, tuple(block for _, group in groups for block in group))

    def _begin_code(self, opening: re.Match[str], final: tuple[Block, ...]) -> Update:
        mark = opening.group(1)
        words = opening.group(2).split()
        self._fence = re.compile(r"^ {0,3}" + re.escape(mark[0]) + "{" + str(len(mark)) + r",}[ \t]*$")
        self._language = words[0] if words else ""
        self._code = ""
        body, self._tail = self._tail[opening.end() :], ""
        update = self._in_code(body)
        if self._fence is None:
            return Update(final + update.final, update.open)
        return Update(final, (Code(self._code + self._visible_tail(), self._language, closed=False),))

    def _in_code(self, piece: str) -> Update:
        """Take lines of the open code block; the line at the end may still turn out to be its closing fence."""
        assert self._fence is not None
        shown_before = self._visible_tail()
        self._tail += piece
        lines = self._tail.split("\n")
        added = ""
        for number, line in enumerate(lines[:-1]):
            if self._fence.match(line):
                block = Code(self._code.removesuffix("\n"), self._language)
                self._fence, self._code, self._tail = None, "", "\n".join(lines[number + 1 :])
                return self._outside((block,))
            self._code += line + "\n"
            added += line + "\n"
        self._tail = lines[-1]
        return Update(appended=(added + self._visible_tail())[len(shown_before) :])

    def _visible_tail(self) -> str:
        """The unfinished last line, unless it may be the beginning of the closing fence."""
        return "" if self._tail.strip(" ")[:1] in ("`", "~") else self._tail


def _from_line(text: str, number: int) -> str:
    position = 0
    for _ in range(number):
        position = text.index("\n", position) + 1
    return text[position:]
