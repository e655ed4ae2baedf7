"""OpenAI's routes."""

from __future__ import annotations

import asyncio
import base64
import datetime
import struct
from collections.abc import Iterator
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import ServerSentEvent

from engine.server import embedding
from engine.server.answering import Answerer, Asked, error_frame, frame, stream
from engine.server.chat_request import chat_request, completion_request
from engine.server.client_name import client_name
from engine.server.model_folders import ModelEntry
from engine.server.openai_answers import ChatAnswer, TextAnswer
from engine.server.openai_models import (
    ChatBody,
    CompletionBody,
    EmbeddingsBody,
    ModelItem,
    ModelList,
    OpenAIError,
)
from engine.server.request import Delta, Event, Finished
from engine.server.service import Service

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": OpenAIError, "description": text}
    for status, text in (
        (400, "the request is wrong"),
        (401, "the key is missing or wrong"),
        (403, "this Host or Origin may not use the engine"),
        (404, "there is no such model"),
        (413, "the request is too large"),
        (503, "no model is loaded"),
    )
}
STREAMS: dict[int | str, dict[str, Any]] = {200: {"content": {"application/json": {}, "text/event-stream": {}}}}


def openai_routes(service: Service, answerer: Answerer) -> APIRouter:
    """The routes, working on `service`."""
    router = APIRouter(prefix="/v1", tags=["openai"], responses=ERRORS)
    seconds = service.settings.limits.answer_seconds

    @router.get("/models", summary="The models in the model folders")
    async def models() -> ModelList:
        items = [_item(entry, service) for entry in await asyncio.to_thread(service.folders.models)]
        ids = [item.id for item in items]
        return ModelList(data=items, first_id=ids[0] if ids else None, last_id=ids[-1] if ids else None)

    @router.get("/models/{model_id:path}", summary="One model")
    async def model(model_id: str) -> ModelItem:
        path = await asyncio.to_thread(service.folders.resolve, model_id)
        entries = await asyncio.to_thread(service.folders.models)
        return next(_item(entry, service) for entry in entries if entry.path == path)

    @router.post("/chat/completions", summary="Answer a conversation", response_class=Response, responses=STREAMS)
    async def chat(body: ChatBody, http: Request) -> Response:
        request = chat_request(body, service.engine_settings, client_name(http), seconds)
        asked = await answerer.ask(request, body.model)
        return await _answer(answerer, asked, http, ChatAnswer(asked.model), bool(body.stream), _wants_usage(body))

    @router.post("/completions", summary="Go on with a text", response_class=Response, responses=STREAMS)
    async def complete(body: CompletionBody, http: Request) -> Response:
        request = completion_request(body, service.engine_settings, client_name(http), seconds)
        asked = await answerer.ask(request, body.model)
        echo = body.prompt if body.echo and isinstance(body.prompt, str) else ""
        answer = TextAnswer(asked.model, echo)
        return await _answer(answerer, asked, http, answer, bool(body.stream), _wants_usage(body))

    @router.post("/embeddings", summary="Embed texts, where the model can", response_class=Response)
    async def embeddings(body: EmbeddingsBody) -> Response:
        texts = [body.input] if isinstance(body.input, str) else body.input
        with await service.claim(body.model) as claim:
            vectors, count = await service.host.run(lambda loaded: embedding.embed(loaded, texts), exclusive=True)
        encode = _base64 if body.encoding_format == "base64" else list
        data = [{"object": "embedding", "index": at, "embedding": encode(one)} for at, one in enumerate(vectors)]
        usage = {"prompt_tokens": count, "total_tokens": count}
        return JSONResponse({"object": "list", "data": data, "model": claim.model, "usage": usage})

    return router


def _item(entry: ModelEntry, service: Service) -> ModelItem:
    changed = datetime.datetime.fromtimestamp(entry.changed, datetime.UTC)
    return ModelItem(
        id=entry.id,
        created=int(entry.changed),
        created_at=changed.isoformat(timespec="seconds").replace("+00:00", "Z"),
        display_name=entry.id,
        loaded=entry.id == service.host.model_id,
    )


def _wants_usage(body: ChatBody | CompletionBody) -> bool:
    return bool(body.stream_options is not None and body.stream_options.include_usage)


async def _answer(
    answerer: Answerer, asked: Asked, http: Request, answer: ChatAnswer | TextAnswer, streamed: bool, usage: bool
) -> Response:
    if not streamed:
        finished = await answerer.whole(asked, http, answer.take)
        return JSONResponse(answer.whole(finished))
    return stream(asked, _Frames(answer, usage), partial(error_frame, dialect="openai"))


class _Frames:
    """Events as OpenAI's frames."""

    def __init__(self, answer: ChatAnswer | TextAnswer, include_usage: bool) -> None:
        self._answer = answer
        self._include_usage = include_usage
        self._opened = False

    def __call__(self, event: Event) -> Iterator[ServerSentEvent]:
        if not self._opened and isinstance(event, Delta | Finished):
            self._opened = True
            yield frame(self._answer.first_chunk())
        if isinstance(event, Delta):
            for chunk in self._answer.chunks(event):
                yield frame(chunk)
        elif isinstance(event, Finished):
            for chunk in self._answer.last_chunks(event, self._include_usage):
                yield frame(chunk)
            yield ServerSentEvent("[DONE]")


def _base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
