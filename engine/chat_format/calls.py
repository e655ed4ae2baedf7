"""Readers of tool calls, one for each way in which models write them.

A reader is fed the text after the marker that opens a call section and says what it recognizes. It is done when the
call is complete; the text after that is not its own.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from engine.chat_format.json_call import CallEvent, JsonCall, JsonSpan
from engine.chat_format.markers import first_marker, held_back

_SPACE = " \t\r\n"


class CallReader(Protocol):
    """Reads calls.

    Attributes:
        done: the call is complete.
        broken: this is no call; `raw` is to be shown as text.
        raw: what was read.
    """

    @property
    def done(self) -> bool:
        """Whether the call is complete."""
        ...

    @property
    def broken(self) -> bool:
        """Whether it is no call."""
        ...

    @property
    def raw(self) -> str:
        """What was read."""
        ...

    @property
    def leftover(self) -> str:
        """The end of what was read, if a call that ended too early has shown that it does not belong to it."""
        ...

    def feed(self, char: str) -> list[CallEvent]:
        """Take a character of the call; not to be used once it is done or broken."""
        ...

    def end(self) -> list[CallEvent]:
        """The answer is over: what can still be said of an unfinished call."""
        ...


class JsonObjectReader:
    """`{"name": ..., "arguments": {...}}`."""

    def __init__(self) -> None:
        self._call = JsonCall()
        self._named = False

    @property
    def done(self) -> bool:
        """Whether the object is closed, or cannot go on after its name was given out."""
        return self._call.done or (self._call.broken and self._named)

    @property
    def broken(self) -> bool:
        """Whether it is no call."""
        return self._call.broken and not self._named

    @property
    def raw(self) -> str:
        """What was read."""
        return self._call.raw

    @property
    def leftover(self) -> str:
        """The character that broke a call off."""
        return self._call.raw[-1:] if self._call.broken and self._named else ""

    def feed(self, char: str) -> list[CallEvent]:
        """Take a character."""
        events = list(self._call.feed(char))
        self._named = self._named or any(kind == "name" for kind, _ in events)
        return [*events, ("end", "")] if self._call.broken and self._named else events

    def end(self) -> list[CallEvent]:
        """A call whose name is known counts, with the arguments as far as they came."""
        return [("end", "")] if self._named and not self.done else []


class NamedJsonReader:
    """A name, a separator, then a JSON object: Mistral's `name[ARGS]{...}`, DeepSeek's `name<｜tool▁sep｜>{...}`.

    Args:
        separators: texts that end the name; a `{` ends it too.
        skipped: texts between name and object that mean nothing.
        kind_first: DeepSeek V3 writes `function<｜tool▁sep｜>name` and fences the object.
    """

    def __init__(self, separators: tuple[str, ...], skipped: tuple[str, ...] = (), kind_first: bool = False) -> None:
        self.done = False
        self.broken = False
        self.raw = ""
        self._separators = separators
        self._skipped = skipped
        self._kind_first = kind_first
        self._name = ""
        self._named = False
        self._between = ""
        self.leftover = ""
        self._span = JsonSpan()

    def feed(self, char: str) -> list[CallEvent]:
        """Take a character."""
        self.raw += char
        if not self._named:
            return self._name_char(char)
        if not self._span.text and char != "{":
            return self._skip(char)
        self._span.feed(char)
        self.done = self._span.done
        piece: CallEvent = ("arguments", char)
        return [piece, ("end", "")] if self.done else [piece]

    def _name_char(self, char: str) -> list[CallEvent]:
        self._name += char
        ending = next((text for text in (*self._separators, "{") if self._name.endswith(text)), None)
        if ending is None:
            self.broken = len(self._name) > 300
            return []
        name = self._name.removesuffix(ending).strip()
        if self._kind_first and ending != "{" and name == "function":
            self._name = ""
            return []
        if self._kind_first and ending == "{":
            name = name.split("\n")[0].strip()
        if not name:
            self.broken = True
            return []
        self._named = True
        events: list[CallEvent] = [("name", name)]
        if ending == "{":
            self._span.feed("{")
            events.append(("arguments", "{"))
        return events

    def _skip(self, char: str) -> list[CallEvent]:
        """Between name and object: white space and what means nothing; anything else ends a call without arguments."""
        self._between += char
        text = self._between.strip()
        if not text or any(skipped.startswith(text) for skipped in self._skipped):
            return []
        self.leftover = text
        self.done = True
        return [("arguments", "{}"), ("end", "")]

    def end(self) -> list[CallEvent]:
        """A named call counts, with `{}` if no argument came."""
        if not self._named or self.done:
            return []
        return [("end", "")] if self._span.text else [("arguments", "{}"), ("end", "")]


class TagReader:
    """Calls written in tags, whose values are text: GLM's and Qwen-Coder's; gives the arguments when complete.

    Args:
        name_end: texts that end the name.
        key, value: opening and closing text of a key and a value; `key[1]` also opens the value if `value[0]` is "".
        close: texts that end the call; not part of it if `leave_close`.
        types: JSON schema types by tool and parameter, to tell the text "3" from the number.
    """

    def __init__(
        self,
        name_end: tuple[str, ...],
        key: tuple[str, str],
        value: tuple[str, str],
        close: tuple[str, ...],
        types: ParameterTypes,
    ) -> None:
        self.done = False
        self.broken = False
        self.raw = ""
        self._name_end = name_end
        self._key = key
        self._value = value
        self._close = close
        self._types = types
        self.leftover = ""
        self._text = ""
        self._name: str | None = None
        self._field: str | None = None
        self._in_value = False
        self._attributes = ""
        self._arguments: dict[str, Any] = {}

    def feed(self, char: str) -> list[CallEvent]:
        """Take a character."""
        self.raw += char
        self._text += char
        if self._name is None:
            return self._read_name()
        if self._in_value:
            self._read_value()
        elif self._field is not None:
            self._await_value()
        else:
            return self._between()
        return []

    def _read_name(self) -> list[CallEvent]:
        ending = next((text for text in (*self._name_end, *self._close) if self._text.endswith(text)), None)
        if ending is None:
            self.broken = len(self._text) > 300
            return []
        name = self._text.removesuffix(ending).strip()
        if not name and ending not in self._close:
            return []  # a line break before the name
        if not name:
            self.broken = True
            return []
        self._name = name
        self._text = self._key[0] if ending == self._key[0] else ""
        events: list[CallEvent] = [("name", name)]
        if self._text:
            self._open_field()
        return events + (self._finished() if ending in self._close else [])

    def _open_field(self) -> None:
        self._field, self._text = "", ""

    def _between(self) -> list[CallEvent]:
        if self._text.endswith(self._key[0]):
            self._open_field()
        elif any(self._text.endswith(text) for text in self._close):
            return self._finished()
        return []

    def _await_value(self) -> None:
        opening = self._key[1] if not self._value[0] else self._value[0]
        if not self._text.endswith(opening):
            return
        field = self._text.removesuffix(opening).strip()
        # DeepSeek's DSML says behind the name whether the value is text: `city" string="true`.
        field, _, self._attributes = field.removesuffix(self._key[1]).strip().partition('"')
        self._field = field
        self._in_value, self._text = True, ""

    def _read_value(self) -> None:
        if not self._text.endswith(self._value[1]):
            return
        text = self._text.removesuffix(self._value[1])
        assert self._field is not None and self._name is not None
        kind = self._types.get(self._name, {}).get(self._field)
        self._arguments[self._field] = typed_value(text, "string" if 'string="true' in self._attributes else kind)
        self._in_value, self._field, self._text = False, None, ""

    def _finished(self) -> list[CallEvent]:
        self.done = True
        return [("arguments", json.dumps(self._arguments, ensure_ascii=False)), ("end", "")]

    def end(self) -> list[CallEvent]:
        """A named call counts, with the arguments that were complete."""
        return self._finished() if self._name is not None and not self.done else []


ParameterTypes = Mapping[str, Mapping[str, Any]]
"""Tool name -> parameter name -> its JSON schema `type` (a text or a list of them), where the schema says one."""


def typed_value(text: str, kind: Any) -> Any:
    """A tag's text as the value the tool's schema asks for; without a schema, JSON that is no string counts as such."""
    kinds = kind if isinstance(kind, list) else [kind]
    if "string" in kinds:
        return text.removeprefix("\n").removesuffix("\n")
    stripped = text.strip()
    try:
        value = json.loads(stripped)
    except ValueError:
        return text.removeprefix("\n").removesuffix("\n")
    return value


class PythonCallReader:
    """Llama 3's built-in tools: `brave_search.call(query="...")`; known when the answer is over."""

    def __init__(self) -> None:
        self.done = False
        self.broken = False
        self.raw = ""
        self.leftover = ""

    def feed(self, char: str) -> list[CallEvent]:
        """Take a character."""
        self.raw += char
        return []

    def end(self) -> list[CallEvent]:
        """The call, if the text is one."""
        try:
            call = ast.parse(self.raw.strip(), mode="eval").body
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "call"):
                return []
            arguments = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
            text = json.dumps(arguments, ensure_ascii=False)
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            return []
        return [("name", ast.unparse(call.func.value)), ("arguments", text), ("end", "")]


class SniffReader:
    """Decides by the first characters which of several readers the call needs, and hands over to it.

    Args:
        choices: (first text, reader that gets what follows it, reader that gets the first text too).
        fallback: makes the reader when no first text fits.
    """

    def __init__(
        self, choices: Mapping[str, tuple[Callable[[], CallReader], bool]], fallback: Callable[[], CallReader]
    ):
        self._choices = choices
        self._fallback = fallback
        self._reader: CallReader | None = None
        self._start = ""
        self._before = ""

    @property
    def done(self) -> bool:
        """Whether the call is complete."""
        return self._reader is not None and self._reader.done

    @property
    def broken(self) -> bool:
        """Whether it is no call."""
        return self._reader is not None and self._reader.broken

    @property
    def raw(self) -> str:
        """What was read."""
        return self._before + (self._start if self._reader is None else self._reader.raw)

    @property
    def leftover(self) -> str:
        """What its reader does not count as the call's."""
        return "" if self._reader is None else self._reader.leftover

    def feed(self, char: str) -> list[CallEvent]:
        """Take a character."""
        if self._reader is not None:
            return self._reader.feed(char)
        if not self._start and char in _SPACE:
            self._before += char
            return []
        self._start += char
        found = first_marker(self._start, self._choices)
        if found is not None and found[0] == 0:
            make, include = self._choices[found[1]]
            self._reader = make()
            if include:
                return self._replay(self._start)
            self._before += self._start
            return []
        if held_back(self._start, self._choices) == len(self._start):
            return []
        self._reader = self._fallback()
        return self._replay(self._start)

    def _replay(self, text: str) -> list[CallEvent]:
        assert self._reader is not None
        events: list[CallEvent] = []
        for char in text:
            events += self._reader.feed(char)
        return events

    def end(self) -> list[CallEvent]:
        """What its reader says."""
        return [] if self._reader is None else self._reader.end()
