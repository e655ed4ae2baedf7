"""Reading a call written as a JSON object, one character at a time.

`{"name": "f", "arguments": {...}}`, with the keys in any order and `parameters` for `arguments`. The arguments are
given out as they come once the name is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

_ARGUMENTS = frozenset({"arguments", "parameters", "input"})
_SPACE = " \t\r\n"


class JsonSpan:
    """Follows one JSON value to its end.

    `feed` takes a character that belongs to the value or follows it; returns False for the first one that does not
    belong. Attributes: `text` what was read; `done` True once an object, list or string is closed.
    """

    def __init__(self) -> None:
        self.text = ""
        self.done = False
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, char: str) -> bool:
        """Take `char`; False if the value ended before it."""
        if self.done:
            return False
        if not self._in_string and self._depth == 0 and self.text and char in ",}]" + _SPACE:
            self.done = True  # a number or a word ends at what follows it
            return False
        self.text += char
        if self._in_string:
            self._string_char(char)
        elif char == '"':
            self._in_string = True
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            self._depth -= 1
            self.done = self._depth <= 0
        return True

    def _string_char(self, char: str) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            self._in_string = False
            self.done = self._depth == 0


CallEvent = tuple[Literal["name", "arguments", "end"], str]


class JsonCall:
    """One call object.

    `feed` gives ("name", ...), ("arguments", piece)..., ("end", ""). Attributes: `raw` everything read, for showing a
    broken call as text; `done`; `broken` True once it cannot be a call.
    """

    def __init__(self) -> None:
        self.raw = ""
        self.done = False
        self.broken = False
        self._state: Literal["start", "key", "colon", "value", "comma"] = "start"
        self._span = JsonSpan()
        self._key = ""
        self._name: str | None = None
        self._waiting = ""  # arguments that came before the name
        self._streaming = False
        self._has_arguments = False

    def feed(self, char: str) -> Iterator[CallEvent]:
        """Take one character."""
        self.raw += char
        again = True
        while again and not (self.done or self.broken):
            again = False
            match self._state:
                case "start":
                    self._expect(char, "{", "key")
                case "key":
                    self._read_key(char)
                    if char == "}" and not self._span.text:
                        yield from self._end()
                case "colon":
                    self._expect(char, ":", "value")
                case "value":
                    taken, events = self._read_value(char)
                    yield from events
                    again = not taken
                case "comma":
                    if char == "}":
                        yield from self._end()
                    else:
                        self._expect(char, ",", "key")

    def _expect(self, char: str, wanted: str, state: Literal["key", "value"]) -> None:
        if char == wanted:
            self._state = state
            self._span = JsonSpan()
        elif char not in _SPACE:
            self.broken = True

    def _read_key(self, char: str) -> None:
        if not self._span.text and char in _SPACE + "}":
            return
        self._span.feed(char)
        if self._span.text[0] != '"':
            self.broken = True
        elif self._span.done:
            self._key = str(_decoded(self._span.text))
            self._state = "colon"

    def _read_value(self, char: str) -> tuple[bool, list[CallEvent]]:
        """Whether the character belonged to the value, and what is known now."""
        if not self._span.text and char in _SPACE:
            return True, []
        taken = self._span.feed(char)
        events: list[CallEvent] = []
        if taken and self._key in _ARGUMENTS and self._span.text[0] == "{":
            events += self._argument_piece(char)
        if self._span.done:
            events += self._value_ended()
            self._state = "comma"
        return taken, events

    def _argument_piece(self, char: str) -> list[CallEvent]:
        self._has_arguments = True
        if self._name is None:
            self._waiting += char
            return []
        return [("arguments", char)]

    def _value_ended(self) -> list[CallEvent]:
        value = _decoded(self._span.text)
        if self._key == "name" and isinstance(value, str) and value and self._name is None:
            self._name = value
            waiting, self._waiting = self._waiting, ""
            named: CallEvent = ("name", value)
            return [named, ("arguments", waiting)] if waiting else [named]
        if self._key == "function" and isinstance(value, dict) and isinstance(value.get("name"), str):
            return self._nested(value)
        if self._key in _ARGUMENTS and isinstance(value, str):  # some models write the object as a string
            return self._argument_piece(value)
        return []

    def _nested(self, function: dict[str, object]) -> list[CallEvent]:
        """`{"type": "function", "function": {"name": ..., "arguments": ...}}`."""
        self._name = str(function["name"])
        arguments = next((function[key] for key in _ARGUMENTS if key in function), {})
        self._has_arguments = True
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        return [("name", self._name), ("arguments", text)]

    def _end(self) -> Iterator[CallEvent]:
        if self._name is None:
            self.broken = True
            return
        self.done = True
        if not self._has_arguments:
            yield ("arguments", "{}")
        yield ("end", "")


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
