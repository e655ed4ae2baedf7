"""The engine's door for other programs: where it shall be open, and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine_client.http import HttpChannel
from app.engine_client.problem import EngineProblem


@dataclass(frozen=True)
class Serving:
    """Where other programs of the user reach the engine: `host`, `port` (0: any free one), and their `key`."""

    host: str
    port: int
    key: str


class Door(QObject):
    """Keeps the door of the running engine as the user wants it; opening it costs no new start and no new load.

    Attributes: `wanted`, where it shall be open (None: nowhere); `url`, where it is ("" while it is closed); `problem`,
    why it could not be opened ("" while nothing is wrong). Signals: `changed` when one of the last two did.
    """

    changed = Signal()

    def __init__(self, channel: HttpChannel) -> None:
        super().__init__(channel)
        self._channel = channel
        self._up = False
        self._asked = 0
        self.wanted: Serving | None = None
        self.url = ""
        self.problem = ""

    def want(self, serving: Serving | None) -> None:
        """Open it there, now or as soon as an engine runs; None: close it."""
        if serving != self.wanted:
            self.wanted = serving
            if self._up:
                self._ask()

    def engine_up(self) -> None:
        """An engine listens, with a closed door."""
        self._up = True
        if self.wanted is not None:
            self._ask()

    def engine_down(self) -> None:
        """There is no engine any more."""
        self._up = False
        self._asked += 1
        self._set("", "")

    def _ask(self) -> None:
        self._asked += 1
        number, wanted = self._asked, self.wanted
        body: dict[str, Any] = {"open": wanted is not None}
        if wanted is not None:
            body |= {"host": wanted.host, "port": wanted.port, "key": wanted.key}
        call = self._channel.call("POST", "/engine/door", body)
        call.done.connect(lambda content: self._answered(number, content))
        call.failed.connect(lambda problem: self._refused(number, problem))

    def _answered(self, number: int, content: Any) -> None:
        if number == self._asked:  # an answer to what was wanted before is no news
            self._set(str(content.get("url") or "") if isinstance(content, dict) else "", "")

    def _refused(self, number: int, problem: EngineProblem) -> None:
        if number == self._asked:
            self._set("", problem.message)

    def _set(self, url: str, problem: str) -> None:
        if (url, problem) != (self.url, self.problem):
            self.url, self.problem = url, problem
            self.changed.emit()
