"""`/health` and `/engine/*`: what the window and scripts control the engine with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from engine.server import inspecting, tuning
from engine.server.chat_request import prompt_of
from engine.server.engine_models import (
    Accepted,
    CacheAnswer,
    CacheBody,
    Done,
    DoorAnswer,
    DoorBody,
    EngineError,
    ExpertMapAnswer,
    HealthAnswer,
    InspectBody,
    LoadBody,
    LogAnswer,
    RequestsAnswer,
    SettingsAnswer,
    SettingsChange,
    SettingsChanged,
    TokenizeAnswer,
    TokenizeBody,
    TraceAnswer,
    TraceBody,
    TuneBody,
)
from engine.server.prepare import Preparer
from engine.server.service import Service
from engine.settings import EngineSettings

_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": EngineError, "description": text}
    for status, text in (
        (400, "the request is wrong"),
        (401, "the key is missing or wrong"),
        (403, "this Host or Origin may not use the engine"),
        (404, "there is no such model"),
        (409, "not now"),
        (413, "the request is too large"),
        (503, "no model is loaded"),
    )
}
_PING_SECONDS = 15


def engine_routes(service: Service, preparer: Preparer) -> APIRouter:
    """The routes, working on `service`."""
    router = APIRouter(tags=["engine"], responses=_ERRORS)
    _add_state_routes(router, service)
    _add_model_routes(router, service)
    _add_measuring_routes(router, service)
    _add_text_routes(router, service, preparer)
    return router


def _add_state_routes(router: APIRouter, service: Service) -> None:
    @router.get("/health", response_model=HealthAnswer, summary="What the engine is doing; needs no key")
    async def health() -> dict[str, Any]:
        return service.state.as_json()

    @router.get(
        "/engine/events",
        summary="Events as they happen, resumable by Last-Event-ID",
        response_class=Response,
        responses={200: {"content": {"text/event-stream": {}}}},
    )
    async def events(last_event_id: Annotated[str | None, Header()] = None) -> EventSourceResponse:
        return EventSourceResponse(_event_stream(service, last_event_id), ping=_PING_SECONDS)

    @router.get("/engine/log", summary="The latest log lines")
    async def log(lines: Annotated[int, Query(ge=1, le=5000)] = 200) -> LogAnswer:
        return LogAnswer(lines=service.log.latest(lines))

    @router.get("/engine/requests", summary="Other programs that use the service, and their latest requests")
    async def requests() -> RequestsAnswer:
        return RequestsAnswer.model_validate(service.requests.as_json())

    @router.post("/engine/door", summary="Let other programs in at an address of their own, or no longer")
    async def door(body: DoorBody) -> DoorAnswer:
        if not body.open:
            await service.door.close()
            return DoorAnswer(url=None)
        return DoorAnswer(url=await service.door.open(str(body.host), body.port, body.key))

    @router.post("/engine/shutdown", status_code=202, summary="End the engine")
    async def shutdown() -> Accepted:
        service.shutdown.set()
        return Accepted()


async def _event_stream(service: Service, last_event_id: str | None) -> AsyncIterator[ServerSentEvent]:
    resumed = int(last_event_id) if last_event_id and last_event_id.isascii() and last_event_id.isdigit() else None
    if resumed is None:  # a new follower learns the state at once, without an id of its own
        yield ServerSentEvent(json.dumps(service.state.as_json()), event="state")
    async for event in service.events.follow(resumed):
        yield ServerSentEvent(json.dumps(event.data), event=event.name, id=str(event.id))


def _add_model_routes(router: APIRouter, service: Service) -> None:
    @router.post("/engine/load", status_code=202, summary="Load a model; progress comes as events")
    async def load(body: LoadBody) -> Accepted:
        path = await service.resolve(body.model)
        return Accepted(model=service.load(path, body.settings).model_id)

    @router.post("/engine/load/cancel", summary="Give up loading")
    async def cancel_load() -> Done:
        return Done(done=await service.host.cancel_load())

    @router.post("/engine/unload", summary="Unload the model; answers in progress end with an error")
    async def unload() -> Done:
        loaded = service.host.model_id is not None
        await service.host.unload()
        return Done(done=loaded)

    @router.get("/engine/settings", summary="All settings and their schema")
    async def settings() -> SettingsAnswer:
        schema = EngineSettings.model_json_schema()
        return SettingsAnswer.model_validate({"values": service.engine_settings.model_dump(), "schema": schema})

    @router.patch("/engine/settings", summary="Change settings")
    async def change_settings(body: SettingsChange) -> SettingsChanged:
        applied, reload = await service.change_settings(body.model_extra or {})
        return SettingsChanged(values=service.engine_settings.model_dump(), applied=applied, needs_reload=reload)

    @router.post("/engine/cache", summary="Resize the running expert cache")
    async def cache(body: CacheBody) -> CacheAnswer:
        return CacheAnswer(bytes=await service.resize_cache(body.bytes))

    @router.post("/engine/inspect", summary="A model file's facts, and what would fit here")
    async def inspect(body: InspectBody) -> dict[str, Any]:
        path = await service.resolve(body.path)
        return await asyncio.to_thread(inspecting.facts, path, service.engine_settings)


def _add_measuring_routes(router: APIRouter, service: Service) -> None:
    @router.get("/engine/telemetry", summary="Counters since the load, and gauges")
    async def telemetry() -> dict[str, Any]:
        return service.telemetry()

    @router.get("/engine/experts", summary="Uses and residency of every expert")
    async def experts() -> ExpertMapAnswer:
        with service.host.borrow() as loaded:
            return ExpertMapAnswer.model_validate(asdict(loaded.expert_map()))

    @router.post("/engine/trace", summary="Record the routing of every token, or stop")
    async def trace(body: TraceBody) -> TraceAnswer:
        return TraceAnswer.model_validate(await service.trace(body.on, body.path, body.max_bytes))

    @router.get("/engine/trace", summary="How far the recording is")
    async def trace_status() -> TraceAnswer:
        return TraceAnswer.model_validate(service.trace_status())

    @router.post("/engine/tune", status_code=202, summary="Measure settings on the loaded model; news come as events")
    async def tune(body: TuneBody) -> Accepted:
        service.tune(body.budget_s)
        return Accepted(model=service.state.health.model)

    @router.get("/engine/tune", summary="What a former tuning of a model found, and whether it still holds")
    async def stored_tuning(model: Annotated[str | None, Query(description="default: the loaded one")] = None) -> Any:
        path = service.loaded_path() if model is None else await service.resolve(model)
        found = await asyncio.to_thread(tuning.stored, path)
        return {"running": service.tuning.running, "stored": found}

    @router.post("/engine/tune/cancel", summary="Stop tuning")
    async def cancel_tune() -> Done:
        return Done(done=service.tuning.cancel())


def _add_text_routes(router: APIRouter, service: Service, preparer: Preparer) -> None:
    @router.post("/engine/tokenize", summary="Count the tokens of a text or a conversation")
    async def tokenize(body: TokenizeBody) -> TokenizeAnswer:
        count, context = await preparer.count(prompt_of(body))
        return TokenizeAnswer(tokens=count, context_length=context)
