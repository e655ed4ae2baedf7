"""The list of conversations as the window sees it: one object that the sidebar, the page and the menus share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.store import Conversation, Sampling, Store

TITLE_LENGTH = 48


class Conversations(QObject):
    """Conversations of the store.

    Attributes: `current`, the conversation in front (None: a new one that has no message yet).
    Signals: `listed` when the list or a title changed; `opened` when another conversation is in front; `trouble(line)`
    when the store could not do something; `broken(line)` when a record could not be read and was left out.
    """

    listed = Signal()
    opened = Signal()
    trouble = Signal(str)
    broken = Signal(str)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self.current: Conversation | None = None

    def begin(self) -> None:
        """Put a new, empty conversation in front; it is stored with its first message."""
        self.current = None
        self.opened.emit()

    def open(self, number: int) -> bool:
        """Put a conversation in front; False when there is none of that number."""
        found = self.store.conversation(number)
        if found is None:
            return False
        self.current = found
        self.opened.emit()
        return True

    def ensure(self, first_words: str, system: str, sampling: Sampling) -> Conversation:
        """The conversation in front, stored now when it was new, titled by its first words."""
        if self.current is None:
            made = self.store.new_conversation(system, sampling)
            made.title = title_of(first_words)
            self.store.rename(made.id, made.title)
            self.current = made
            self.listed.emit()
        return self.current

    def touch(self) -> None:
        """A message was added: the order may have changed."""
        self.listed.emit()

    def rename(self, number: int, title: str) -> None:
        """Give a conversation a title; an empty one is ignored."""
        words = " ".join(title.split())
        if words:
            self._change(number, lambda: self.store.rename(number, words))

    def pin(self, number: int, pinned: bool) -> None:
        """Keep a conversation at the top, or not."""
        self._change(number, lambda: self.store.pin(number, pinned))

    def set_options(self, system: str, sampling: Sampling) -> None:
        """System prompt and sampling of the conversation in front."""
        if self.current is not None:
            number = self.current.id
            self._change(number, lambda: self.store.set_options(number, system, sampling))

    def delete(self, number: int) -> None:
        """Take a conversation away; `undelete` brings it back."""
        self._change(number, lambda: self.store.delete(number))
        if self.current is not None and self.current.id == number:
            self.begin()

    def undelete(self, number: int) -> None:
        """Bring a deleted conversation back and put it in front."""
        self._change(number, lambda: self.store.undelete(number))
        self.open(number)

    def neighbour(self, by: int) -> int | None:
        """Number of the conversation `by` places below the current one in the list."""
        numbers = [one.id for one in self.store.conversations()]
        if not numbers:
            return None
        if self.current is None or self.current.id not in numbers:
            return numbers[0]
        at = numbers.index(self.current.id) + by
        return numbers[at] if 0 <= at < len(numbers) else None

    def _change(self, number: int, change: Callable[[], None]) -> None:
        try:
            change()
        except sqlite3.Error as problem:
            self.trouble.emit(str(problem))
        if self.current is not None and self.current.id == number:
            self.current = self.store.conversation(number) or self.current
        self.listed.emit()


def title_of(words: str) -> str:
    """A title from the first words somebody wrote."""
    line = " ".join(words.split())
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[:TITLE_LENGTH]
    return (cut.rsplit(" ", 1)[0] if " " in cut[20:] else cut).rstrip(".,;:") + "…"
