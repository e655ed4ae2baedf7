"""Whose turn is it: one line per client, served in rotation, so that nobody's many requests delay another's one."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """First come, first served within a client; in rotation between clients. Not thread-safe; no waiting."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[Item]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(line) for line in self._lines.values())

    def __iter__(self) -> Iterator[Item]:
        return (item for line in self._lines.values() for item in line)

    def put(self, client: str, item: Item) -> None:
        """Queue `item` at the end of its client's line; a client new to the queue is served last in the round."""
        self._lines.setdefault(client, deque()).append(item)

    def take(self) -> Item | None:
        """The next item, or None; its client's line then waits for all others."""
        if not self._lines:
            return None
        client, line = next(iter(self._lines.items()))
        item = line.popleft()
        if line:
            self._lines.move_to_end(client)
        else:
            del self._lines[client]
        return item

    def remove(self, item: Item) -> bool:
        """Take `item` out wherever it waits; False if it does not."""
        for client, line in self._lines.items():
            if item in line:
                line.remove(item)
                if not line:
                    del self._lines[client]
                return True
        return False
