"""Server-sent events, piece by piece (pure, no Qt). Format: WHATWG HTML, section 9.2."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SseEvent:
    """One event: its name ("message" when the stream gave none), its data and the last id seen."""

    name: str
    data: str
    last_id: str


class SseParser:
    """Turns received bytes into events; a piece may end anywhere, in the middle of a character too."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []
        self.last_id = ""

    def feed(self, received: bytes) -> list[SseEvent]:
        """Events that `received` completes, in order."""
        lines = (self._rest + received).split(b"\n")
        self._rest = lines.pop()
        events = (self._line(line.removesuffix(b"\r").decode("utf-8", "replace")) for line in lines)
        return [event for event in events if event is not None]

    def _line(self, line: str) -> SseEvent | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "id":
            self.last_id = value
        return None

    def _dispatch(self) -> SseEvent | None:
        name, data = self._name or "message", self._data
        self._name, self._data = "", []
        return SseEvent(name, "\n".join(data), self.last_id) if data else None
