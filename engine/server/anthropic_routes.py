"""Anthropic's routes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import ServerSentEvent

from engine.server.answering import Answerer, error_frame, frame, stream
from engine.server.anthropic_answers import Json, MessageAnswer
from engine.server.anthropic_models import AnthropicError, CountAnswer, CountBody, MessagesBody
from engine.server.client_name import client_name
from engine.server.messages_request import messages_prompt, messages_request
from engine.server.prepare import Preparer
from engine.server.request import Delta, Event, Finished, PromptRead, Started
from engine.server.service import Service

_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": AnthropicError, "description": text}
    for status, text in (
        (400, "the request is wrong"),
        (401, "the key is missing or wrong"),
        (403, "this Host or Origin may not use the engine"),
        (404, "there is no such model"),
        (413, "the request is too large"),
        (503, "no model is loaded"),
    )
}
_STREAMS: dict[int | str, dict[str, Any]] = {200: {"content": {"application/json": {}, "text/event-stream": {}}}}


def anthropic_routes(service: Service, answerer: Answerer, preparer: Preparer) -> APIRouter:
    """The routes, working on `service`."""
    router = APIRouter(prefix="/v1/messages", tags=["anthropic"], responses=_ERRORS)
    seconds = service.settings.limits.answer_seconds

    @router.post("", summary="Answer a conversation", response_class=Response, responses=_STREAMS)
    async def messages(body: MessagesBody, http: Request) -> Response:
        request = messages_request(body, service.engine_settings, client_name(http), seconds)
        asked = await answerer.ask(request, body.model)
        answer = MessageAnswer(asked.model)
        if body.stream:
            return stream(
                asked, _Frames(answer, len(asked.job.prepared.tokens)), partial(error_frame, dialect="anthropic")
            )
        finished = await answerer.whole(asked, http, answer.take)
        return JSONResponse(answer.whole(finished))

    @router.post("/count_tokens", summary="Count a conversation's tokens")
    async def count_tokens(body: CountBody) -> CountAnswer:
        with await service.claim(body.model):
            count, _ = await preparer.count(messages_prompt(body))
        return CountAnswer(input_tokens=count)

    return router


class _Frames:
    """Events as Anthropic's frames. A long prompt is accompanied by pings, which clients take as a sign of life."""

    def __init__(self, answer: MessageAnswer, prompt_tokens: int) -> None:
        self._answer = answer
        self._prompt_tokens = prompt_tokens
        self._opened = False

    def __call__(self, event: Event) -> Iterator[ServerSentEvent]:
        for content in self._contents(event):
            yield frame(content, str(content["type"]))

    def _contents(self, event: Event) -> Iterator[Json]:
        if not self._opened:
            self._opened = True
            reused = event.reused_tokens if isinstance(event, Started) else 0
            yield self._answer.first_event(self._prompt_tokens, reused)
        if isinstance(event, PromptRead):
            yield {"type": "ping"}
        elif isinstance(event, Delta):
            yield from self._answer.events(event)
        elif isinstance(event, Finished):
            yield from self._answer.last_events(event)
