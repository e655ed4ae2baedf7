"""A conversation's messages as a tree of branches (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from app.store.records import Message


class Tree:
    """Messages of one conversation by parent. A message whose parent is lost hangs on the one before it."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._by_id: dict[int, Message] = {}
        self._children: dict[int | None, list[int]] = {}
        for message in sorted(messages, key=lambda one: one.id):
            if message.parent is not None and message.parent not in self._by_id:
                message.parent = max(self._by_id, default=None)
            self.add(message)

    def __len__(self) -> int:
        return len(self._by_id)

    def __getitem__(self, number: int) -> Message:
        return self._by_id[number]

    def __contains__(self, number: object) -> bool:
        return number in self._by_id

    def add(self, message: Message) -> None:
        """Take a message whose parent is already here (or None)."""
        self._by_id[message.id] = message
        self._children.setdefault(message.parent, []).append(message.id)

    def replace(self, message: Message) -> None:
        """Put another value in the place of the message of the same id."""
        self._by_id[message.id] = message

    def path(self, leaf: int | None) -> list[Message]:
        """Messages from the first to `leaf`; the newest branch when `leaf` is None or unknown."""
        number = leaf if leaf in self._by_id else self.newest_leaf(None)
        found = []
        while number is not None:
            found.append(self._by_id[number])
            number = self._by_id[number].parent
        return found[::-1]

    def siblings(self, number: int) -> list[int]:
        """Ids of the versions of message `number`, itself included, oldest first."""
        return self._children[self._by_id[number].parent]

    def newest_leaf(self, number: int | None) -> int | None:
        """Follow the newest child from `number` (None: from the start) to the end of its branch."""
        while self._children.get(number):
            number = self._children[number][-1]
        return number
