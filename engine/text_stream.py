"""Turns token pieces (bytes) into text that can be shown: whole characters only, nothing of a stop string."""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextStream:
    """Feed it bytes, show what it returns.

    A character whose UTF-8 bytes are spread over tokens is held back until it is whole; so is text that may turn out
    to be the beginning of a stop string.

    Attributes:
        stopped: True once a stop string was found; it and what follows it are never returned.
        stop_text: the stop string that was found.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._stop = tuple(text for text in stop if text)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""
        self.stopped = False
        self.stop_text: str | None = None

    def feed(self, piece: bytes) -> str:
        """Text that can be shown now that `piece` has come."""
        return self._release(self._decoder.decode(piece))

    def finish(self) -> str:
        """The rest: an unfinished character becomes U+FFFD, a mere beginning of a stop string is shown."""
        text = self._release(self._decoder.decode(b"", final=True))
        if self.stopped:
            return text
        text, self._held = text + self._held, ""
        return text

    def _release(self, text: str) -> str:
        if self.stopped:
            return ""
        self._held += text
        found = [(at, stop) for at, stop in ((self._held.find(stop), stop) for stop in self._stop) if at >= 0]
        if found:
            at, self.stop_text = min(found)
            self.stopped = True
            text, self._held = self._held[:at], ""
            return text
        keep = max((_overlap(self._held, stop) for stop in self._stop), default=0)
        cut = len(self._held) - keep
        text, self._held = self._held[:cut], self._held[cut:]
        return text


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that is a beginning of `stop`."""
    for length in range(min(len(text), len(stop) - 1), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0
