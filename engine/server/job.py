"""One request on its way: made in the event loop, worked on by the engine thread, followed in the loop again."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from engine.chat_format.stream import ChatStream
from engine.server.request import AnswerRequest, Event, Failed, Finished
from engine.stop_flag import StopFlag

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """A request with its prompt as tokens.

    Attributes:
        model_generation: which load the tokens belong to; another model must not be given them.
        boundaries: numbers of prompt tokens after which a message ends, ascending.
        stream: takes the answer's text apart; None for plain completions.
        grammar: GBNF the answer follows, once thinking is over.
    """

    request: AnswerRequest
    model_generation: int
    tokens: tuple[int, ...]
    boundaries: tuple[int, ...] = ()
    stream: ChatStream | None = None
    grammar: str | None = None


class Job:
    """A prepared answer and the way back to the one who waits for it.

    The engine thread calls `emit`; the event loop calls `events` and `cancel`.
    """

    def __init__(self, prepared: PreparedAnswer, loop: asyncio.AbstractEventLoop) -> None:
        self.number = next(_numbers)
        self.prepared = prepared
        self.stop_flag = StopFlag()
        self._loop = loop
        self._events: asyncio.Queue[Event] = asyncio.Queue()

    @property
    def client(self) -> str:
        """Whose request it is."""
        return self.prepared.request.client

    @property
    def cancelled(self) -> bool:
        """True once nobody waits for the answer any more."""
        return self.stop_flag.is_set()

    def cancel(self) -> None:
        """End it within a token, or a layer while the prompt is computed. Any thread."""
        self.stop_flag.set()

    def emit(self, event: Event) -> None:
        """Hand an event to the one who waits. Engine thread."""
        try:
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)
        except RuntimeError:  # the loop is closed: the server is going down and nobody waits
            self.cancel()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Events until the last one; leaving early cancels the answer."""
        try:
            while True:
                event = await self._events.get()
                yield event
                if isinstance(event, Finished | Failed):
                    return
        finally:
            self.cancel()
