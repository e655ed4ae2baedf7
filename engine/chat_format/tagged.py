"""The parser of answers with markers in the text: thinking tags, tool-call tags. One machine for most families."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.chat_format.calls import CallReader
from engine.chat_format.json_call import CallEvent
from engine.chat_format.markers import first_marker, held_back
from engine.chat_format.parts import Content, Part, Reasoning, ToolArguments, ToolEnd, ToolStart

MakeReader = Callable[[], CallReader]


def new_call_id() -> str:
    """An id for a call: nine letters and digits, which Mistral's template insists on."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(secrets.choice(alphabet) for _ in range(9))


@dataclass(frozen=True)
class Tags:
    """How a family marks its answers.

    Attributes:
        thinking: opening and closing marker of thinking, if the family thinks.
        calls: marker that opens a call -> its reader.
        more_calls: what begins a further call right after one (without a marker of its own) -> its reader; the text
            is given to the reader.
        after_call: texts that may follow a call and mean nothing.
        dropped: markers that mean nothing by themselves.
        bare_call: reader of a call that is the whole answer, without a marker (Llama 3).
    """

    thinking: tuple[str, str] | None = None
    calls: Mapping[str, MakeReader] = field(default_factory=dict)
    more_calls: Mapping[str, MakeReader] = field(default_factory=dict)
    after_call: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    bare_call: MakeReader | None = None


class TaggedStream:
    """A `ChatStream` for `Tags`.

    Args:
        in_thinking: the prompt has opened the thinking already.
        new_id: makes call ids.
    """

    def __init__(self, tags: Tags, *, in_thinking: bool = False, new_id: Callable[[], str] = new_call_id) -> None:
        self._tags = tags
        self._new_id = new_id
        self._thinking = in_thinking and tags.thinking is not None
        self._text = ""
        self._space = ""  # white space that is given out only if text follows
        self._said: dict[type[Part], bool] = {}
        self._reader: CallReader | None = None
        self._reader_marker = ""
        self._started = False
        self._after_call = False
        self._calls = 0
        structure = set(tags.calls) | set(tags.dropped) | set(tags.after_call) | set(tags.thinking or ())
        self._markers = frozenset(structure)

    @property
    def markers(self) -> frozenset[str]:
        """Special tokens the parser wants to see."""
        return self._markers

    @property
    def thinking(self) -> bool:
        """Whether thinking is going on."""
        return self._thinking

    def feed(self, text: str) -> list[Part]:
        """The parts that became known with `text`."""
        parts: list[Part] = []
        self._text += text
        while self._text:
            before = (self._text, self._reader, self._after_call)
            parts += self._read_call() if self._reader is not None else self._read_text()
            if (self._text, self._reader, self._after_call) == before:  # it may be the beginning of a marker
                break
        return _joined(parts)

    def finish(self) -> list[Part]:
        """What was held back; an open call is closed."""
        parts: list[Part] = []
        if self._reader is not None:
            parts += self._end_reader()
        text, self._text = self._text, ""
        if not self._after_call or text.strip():
            parts += self._say(text)
        return _joined(parts)

    # Text

    def _read_text(self) -> list[Part]:
        if self._after_call:
            return self._read_after_call()
        if self._bare_call_begins():
            return []
        markers = self._expected()
        found = first_marker(self._text, markers)
        if found is None:
            keep = held_back(self._text, markers)
            cut = len(self._text) - keep
            text, self._text = self._text[:cut], self._text[cut:]
            return self._say(text)
        at, marker = found
        text, self._text = self._text[:at], self._text[at + len(marker) :]
        parts = self._say(text)
        self._meet(marker)
        return parts

    def _expected(self) -> tuple[str, ...]:
        if self._thinking:
            assert self._tags.thinking is not None
            # Some models call a tool without closing their thinking.
            return (self._tags.thinking[1], *self._tags.calls)
        return (*self._tags.calls, *self._tags.dropped, *(self._tags.thinking or ()))

    def _meet(self, marker: str) -> None:
        self._space = ""  # around a marker it is layout
        if marker in self._tags.calls:
            self._thinking = False
            self._open_reader(self._tags.calls[marker](), marker)
        elif self._tags.thinking is not None and marker in self._tags.thinking:
            self._thinking = marker == self._tags.thinking[0]
            self._said.pop(Reasoning if self._thinking else Content, None)

    def _say(self, text: str) -> list[Part]:
        """Text as it may be shown: white space at the beginning and before markers is layout, not text."""
        kind: type[Content] | type[Reasoning] = Reasoning if self._thinking else Content
        text = self._space + text
        if not self._said.get(kind) and (self._tags.thinking is not None or self._calls):
            text = text.lstrip()
        shown = text.rstrip() if self._layout_matters() else text
        self._space = text[len(shown) :]
        if not shown:
            return []
        self._said[kind] = True
        return [kind(shown)]

    def _layout_matters(self) -> bool:
        return self._thinking or bool(self._tags.calls)

    def _bare_call_begins(self) -> bool:
        if self._tags.bare_call is None or self._said or self._calls or not self._text.lstrip().startswith("{"):
            return False
        self._open_reader(self._tags.bare_call(), "")
        return True

    # Calls

    def _open_reader(self, reader: CallReader, marker: str) -> None:
        self._reader, self._reader_marker, self._started = reader, marker, False

    def _read_call(self) -> list[Part]:
        reader = self._reader
        assert reader is not None
        parts: list[Part] = []
        for at, char in enumerate(self._text):
            parts += self._call_parts(reader.feed(char))
            if reader.done or reader.broken:
                self._text = reader.leftover + self._text[at + 1 :]
                parts += self._end_reader()
                return parts
        self._text = ""
        return parts

    def _end_reader(self) -> list[Part]:
        reader, self._reader = self._reader, None
        assert reader is not None
        parts = [] if reader.done or reader.broken else self._call_parts(reader.end())
        if self._started:
            self._calls += 1
            self._after_call = True
            return parts
        marker = self._reader_marker
        return parts + self._say(("" if marker in self._tags.dropped else marker) + reader.raw)

    def _call_parts(self, events: list[CallEvent]) -> list[Part]:
        parts: list[Part] = []
        for kind, text in events:
            if kind == "name":
                self._started = True
                parts.append(ToolStart(self._calls, self._new_id(), text))
            elif kind == "arguments":
                parts.append(ToolArguments(self._calls, text))
            else:
                parts.append(ToolEnd(self._calls))
        return parts

    def _read_after_call(self) -> list[Part]:
        self._text = self._text.lstrip()
        expected = (*self._tags.after_call, *self._tags.more_calls)
        found = first_marker(self._text, expected)
        if found is not None and found[0] == 0:
            marker = found[1]
            if marker in self._tags.more_calls:
                self._after_call = False
                self._open_reader(self._tags.more_calls[marker](), "")
            else:
                self._text = self._text[len(marker) :]
        elif self._text and held_back(self._text, expected) < len(self._text):
            self._after_call = False
            self._said.pop(Content, None)
        return []


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbouring pieces of the same kind as one."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Content) and isinstance(last, Content):
            joined[-1] = Content(last.text + part.text)
        elif isinstance(part, Reasoning) and isinstance(last, Reasoning):
            joined[-1] = Reasoning(last.text + part.text)
        elif isinstance(part, ToolArguments) and isinstance(last, ToolArguments) and part.index == last.index:
            joined[-1] = ToolArguments(last.index, last.text + part.text)
        else:
            joined.append(part)
    return joined
