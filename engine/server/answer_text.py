"""From tokens to the parts of an answer: whole characters, stop strings, markers, tool calls. No computing."""

from __future__ import annotations

from collections.abc import Callable

from engine.chat_format.parts import Content, Part
from engine.chat_format.stream import ChatStream
from engine.text_stream import TextStream

Piece = Callable[[int, bool], bytes]


class AnswerText:
    """Feed it tokens; it gives the parts that may be shown.

    Attributes:
        stopped: True once a stop string came; the answer is then over.
    """

    def __init__(self, piece: Piece, stop: tuple[str, ...], stream: ChatStream | None) -> None:
        self._piece = piece
        self._text = TextStream(stop)
        self._stream = stream
        self._markers = frozenset() if stream is None else stream.markers

    @property
    def stopped(self) -> bool:
        """Whether a stop string was found."""
        return self._text.stopped

    @property
    def stop_text(self) -> str | None:
        """The stop string that was found."""
        return self._text.stop_text

    @property
    def thinking(self) -> bool:
        """Whether the model is in the middle of thinking."""
        return self._stream is not None and self._stream.thinking

    def feed(self, token: int) -> list[Part]:
        """The parts that became known with `token`."""
        return self._parts(self._text.feed(self._bytes(token)))

    def finish(self) -> list[Part]:
        """What was held back."""
        parts = self._parts(self._text.finish())
        return parts if self._stream is None else parts + self._stream.finish()

    def _bytes(self, token: int) -> bytes:
        shown = self._piece(token, False)
        if shown or not self._markers:
            return shown
        # A special token: shown only if the parser takes it for structure, so that no other one leaks into the text.
        special = self._piece(token, True)
        return special if special.decode("utf-8", "replace") in self._markers else b""

    def _parts(self, text: str) -> list[Part]:
        if not text:
            return []
        return [Content(text)] if self._stream is None else self._stream.feed(text)
