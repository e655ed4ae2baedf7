"""Colours for code, by Pygments (no Qt): which stretch of which line gets which colour token."""

from __future__ import annotations

from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    String,
    _TokenType,
    is_token_subtype,
)
from pygments.util import ClassNotFound

LARGEST = 30_000
"""Characters up to which a block is coloured; a larger one would hold the window up."""

Span = tuple[int, int, str]
"""Start and length within a line, and the name of a colour token."""

_COLOURS: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "syn_comment"),
    (Keyword, "syn_keyword"),
    (String, "syn_string"),
    (Number, "syn_number"),
    (Literal, "syn_number"),
    (Name.Function, "syn_name"),
    (Name.Class, "syn_name"),
    (Name.Builtin, "syn_name"),
    (Name.Tag, "syn_keyword"),
    (Name.Attribute, "syn_name"),
    (Name.Decorator, "syn_name"),
    (Operator.Word, "syn_keyword"),
    (Error, ""),
)


def spans(code: str, language: str) -> list[list[Span]]:
    """For every line of `code` its coloured stretches; lines without any when the language is unknown."""
    lines: list[list[Span]] = [[] for _ in range(code.count("\n") + 1)]
    lexer = _lexer(language)
    if lexer is None or len(code) > LARGEST:
        return lines
    line = column = 0
    for _, kind, value in lexer.get_tokens_unprocessed(code):
        colour = _colour(kind)
        for number, part in enumerate(value.split("\n")):
            if number:
                line, column = line + 1, 0
            if part and colour:
                lines[line].append((column, _utf16(part), colour))
            column += _utf16(part)
    return lines


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    if not language:
        return None
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _colour(kind: _TokenType) -> str:
    return next((colour for family, colour in _COLOURS if is_token_subtype(kind, family)), "")


def _utf16(text: str) -> int:
    """Length as Qt counts it."""
    return len(text) + sum(1 for letter in text if ord(letter) > 0xFFFF)
