"""OpenAI's harmony format (gpt-oss): messages with headers, each on a channel.

`<|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>commentary to=functions.f
<|constrain|>json<|message|>{...}<|call|>`. The prompt ends with `<|start|>assistant`, so an answer begins in a header.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.chat_format.markers import first_marker, held_back
from engine.chat_format.parts import Content, Part, Reasoning, ToolArguments, ToolEnd, ToolStart
from engine.chat_format.tagged import new_call_id

_START, _CHANNEL, _CONSTRAIN, _MESSAGE = "<|start|>", "<|channel|>", "<|constrain|>", "<|message|>"
_ENDS = ("<|end|>", "<|call|>", "<|return|>")
_ALL = (_START, _CHANNEL, _CONSTRAIN, _MESSAGE, *_ENDS)
_RECIPIENT = re.compile(r"to=([^\s<]+)")
_RECIPIENT_SO_FAR = re.compile(r"\s*(t|to|to=\S*)?\s*\Z")
_FUNCTIONS = "functions."


class HarmonyStream:
    """A `ChatStream` for harmony."""

    def __init__(self, *, new_id: Callable[[], str] = new_call_id) -> None:
        self._new_id = new_id
        self._text = ""
        self._header: str | None = ""  # None: in a message's body
        self._kind: type[Content] | type[Reasoning] = Content
        self._marked = False
        self._call: int | None = None
        self._calls = 0
        self._argued = False

    @property
    def markers(self) -> frozenset[str]:
        """Special tokens the parser wants to see."""
        return frozenset(_ALL)

    @property
    def thinking(self) -> bool:
        """Whether anything but the final message is being written: a grammar has to wait for that."""
        return self._header is not None or self._kind is Reasoning

    def feed(self, text: str) -> list[Part]:
        """The parts that became known with `text`."""
        parts: list[Part] = []
        self._text += text
        while (found := first_marker(self._text, _ALL)) is not None:
            at, marker = found
            before, self._text = self._text[:at], self._text[at + len(marker) :]
            parts += self._take(before)
            parts += self._meet(marker)
        keep = held_back(self._text, _ALL)
        cut = len(self._text) - keep
        before, self._text = self._text[:cut], self._text[cut:]
        return parts + self._take(before)

    def finish(self) -> list[Part]:
        """What was held back; an open call is closed."""
        text, self._text = self._text, ""
        return self._take(text) + self._end_message()

    def _take(self, text: str) -> list[Part]:
        if self._header is not None:
            self._header += text
            if self._marked or _RECIPIENT_SO_FAR.match(self._header):
                return []
            text, self._header, self._kind = self._header, None, Content  # no header at all: a plain answer
        if not text:
            return []
        if self._call is not None:
            self._argued = True
            return [ToolArguments(self._call, text)]
        return [self._kind(text)]

    def _meet(self, marker: str) -> list[Part]:
        self._marked = True
        if marker == _MESSAGE:
            return self._begin_message()
        if marker in _ENDS or marker == _START:
            parts = self._end_message()
            self._header = ""
            return parts
        self._header = (self._header or "") + marker
        return []

    def _begin_message(self) -> list[Part]:
        header, self._header = self._header or "", None
        channel = header.partition(_CHANNEL)[2].strip()
        recipient = _RECIPIENT.search(header)
        self._kind = Reasoning if channel.startswith("analysis") else Content
        if recipient is None or recipient[1] == "assistant":
            return []
        self._call, self._calls, self._argued = self._calls, self._calls + 1, False
        return [ToolStart(self._call, self._new_id(), recipient[1].removeprefix(_FUNCTIONS))]

    def _end_message(self) -> list[Part]:
        call, self._call = self._call, None
        if call is None:
            return []
        return [ToolEnd(call)] if self._argued else [ToolArguments(call, "{}"), ToolEnd(call)]
