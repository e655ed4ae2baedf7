"""What every parser of answers can do."""

from __future__ import annotations

from typing import Protocol

from engine.chat_format.parts import Part


class ChatStream(Protocol):
    """Takes an answer's text as it comes, in pieces of any size, and gives back its parts.

    Attributes:
        markers: texts of special tokens that belong to the structure and must be fed too.
        thinking: True while the model is thinking.
    """

    @property
    def markers(self) -> frozenset[str]:
        """Special tokens the parser wants to see."""
        ...

    @property
    def thinking(self) -> bool:
        """Whether thinking is going on."""
        ...

    def feed(self, text: str) -> list[Part]:
        """The parts that became known with `text`."""
        ...

    def finish(self) -> list[Part]:
        """What was held back when the answer ended; open calls are closed."""
        ...
