"""Asking the engine and passing the answer on, for every API: whole or as a stream, until the client goes away."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from engine.server.errors import ApiError, Dialect, error_body, from_exception
from engine.server.job import Job
from engine.server.prepare import Preparer
from engine.server.request import AnswerRequest, Delta, Event, Failed, Finished
from engine.server.service import Claim, Service

_log = logging.getLogger(__name__)
_PING_SECONDS = 15


class ClientGone(Exception):
    """The client has closed its connection; there is nobody to answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that has been queued, and its claim on the model that answers it."""

    job: Job
    claim: Claim

    @property
    def model(self) -> str:
        """The model's id."""
        return self.claim.model

    def leave(self) -> None:
        """Nobody waits for the answer any more."""
        self.job.cancel()
        self.claim.release()


class Answerer:
    """Takes requests of all APIs to the engine."""

    def __init__(self, service: Service, preparer: Preparer) -> None:
        self._service = service
        self._preparer = preparer

    async def ask(self, request: AnswerRequest, model: str) -> Asked:
        """Queue a request; raises `ApiError` while there is still time for a proper status."""
        claim = await self._service.claim(model)
        try:
            job = Job(await self._preparer.prepare(request), asyncio.get_running_loop())
        except BaseException:
            claim.release()
            raise
        self._service.host.submit(job)
        return Asked(job, claim)

    async def whole(self, asked: Asked, http: Request, take: Callable[[Delta], None]) -> Finished:
        """Follow an answer to its end. Raises `ApiError` if it fails and `ClientGone` if the client leaves."""
        following = asyncio.ensure_future(_follow(asked.job, take))
        leaving = asyncio.ensure_future(_client_leaves(http))
        try:
            done, _ = await asyncio.wait({following, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if following not in done:
                raise ClientGone
            return following.result()
        finally:
            asked.leave()
            for task in (following, leaving):
                task.cancel()
            await asyncio.gather(following, leaving, return_exceptions=True)


async def _follow(job: Job, take: Callable[[Delta], None]) -> Finished:
    async with contextlib.aclosing(job.events()) as events:
        async for event in events:
            if isinstance(event, Delta):
                take(event)
            elif isinstance(event, Failed):
                raise event.error
            elif isinstance(event, Finished):
                return event
    raise from_exception(RuntimeError("the answer has no end"))


async def _client_leaves(http: Request) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass


Frames = Callable[[Event], Iterable[ServerSentEvent]]
ErrorFrame = Callable[[ApiError], ServerSentEvent]


def stream(asked: Asked, frames: Frames, failed: ErrorFrame) -> EventSourceResponse:
    """The answer as server-sent events; `frames` turns events into frames, `failed` a late failure."""
    return _Stream(asked, _frames(asked.job, frames, failed))


class _Stream(EventSourceResponse):
    """A stream that leaves its answer when it ends, even if it never began because the client had gone already."""

    def __init__(self, asked: Asked, content: AsyncIterator[ServerSentEvent]) -> None:
        super().__init__(content, ping=_PING_SECONDS, sep="\n")
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._asked.leave()


async def _frames(job: Job, frames: Frames, failed: ErrorFrame) -> AsyncIterator[ServerSentEvent]:
    async with contextlib.aclosing(job.events()) as events:
        async for event in events:
            if isinstance(event, Failed):
                yield failed(event.error)
                return
            for frame in frames(event):
                yield frame


def error_frame(error: ApiError, dialect: Dialect) -> ServerSentEvent:
    """An error in the middle of a stream, in the API's own shape."""
    content = json.dumps(error_body(error, dialect).content)
    return ServerSentEvent(content, event="error" if dialect == "anthropic" else None)


def frame(content: dict[str, Any], event: str | None = None) -> ServerSentEvent:
    """A JSON object as a frame."""
    return ServerSentEvent(json.dumps(content, ensure_ascii=False), event=event)
