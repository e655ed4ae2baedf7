"""OpenAI's Responses API, without a store of responses: what coding agents speak that send the whole conversation."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import ServerSentEvent

from engine.server.answering import Answerer, frame, stream
from engine.server.client_name import client_name
from engine.server.openai_routes import ERRORS, STREAMS
from engine.server.request import Delta, Event, Finished, PromptRead
from engine.server.responses_answers import Json, ResponseAnswer
from engine.server.responses_models import ResponsesBody
from engine.server.responses_request import responses_request
from engine.server.service import Service


def responses_routes(service: Service, answerer: Answerer) -> APIRouter:
    """The route, working on `service`."""
    router = APIRouter(prefix="/v1", tags=["openai"], responses=ERRORS)
    seconds = service.settings.limits.answer_seconds

    @router.post("/responses", summary="Answer a conversation of items", response_class=Response, responses=STREAMS)
    async def respond(body: ResponsesBody, http: Request) -> Response:
        request = responses_request(body, service.engine_settings, client_name(http), seconds)
        asked = await answerer.ask(request, body.model)
        answer = ResponseAnswer(asked.model, body)
        if body.stream:
            return stream(asked, _Frames(answer), lambda error: _frame(answer.failed_event(error)))
        finished = await answerer.whole(asked, http, answer.take)
        return JSONResponse(answer.whole(finished))

    return router


class _Frames:
    """Events as the API's frames."""

    def __init__(self, answer: ResponseAnswer) -> None:
        self._answer = answer
        self._opened = False

    def __call__(self, event: Event) -> Iterator[ServerSentEvent]:
        if not self._opened:
            self._opened = True
            yield from map(_frame, self._answer.first_events())
        elif isinstance(event, PromptRead):
            yield _frame(self._answer.progress_event())
        if isinstance(event, Delta):
            yield from map(_frame, self._answer.events(event))
        elif isinstance(event, Finished):
            yield from map(_frame, self._answer.last_events(event))


def _frame(content: Json) -> ServerSentEvent:
    return frame(content, str(content["type"]))
