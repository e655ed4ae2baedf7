"""The web application: routes, the gate before them, and every error in the shape of the API it belongs to."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from engine.errors import GannetError, SettingsError
from engine.server.answering import Answerer, ClientGone
from engine.server.anthropic_routes import anthropic_routes
from engine.server.dialect import dialect_of
from engine.server.engine_routes import engine_routes
from engine.server.errors import ApiError, bad_request, error_body, from_exception
from engine.server.gate import Gate
from engine.server.openai_routes import openai_routes
from engine.server.prepare import Preparer
from engine.server.request_log import LogRequests
from engine.server.responses_routes import responses_routes
from engine.server.service import Service

_log = logging.getLogger(__name__)


def make_app(service: Service) -> FastAPI:
    """The application that serves `service`; the service starts and stops with it."""
    preparer = Preparer(service)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        preparer.start()
        try:
            yield
        finally:
            await service.stop()
            await preparer.close()

    app = FastAPI(
        title="Gannet",
        version=service.version,
        description="The local engine: OpenAI's and Anthropic's APIs, and its own control routes.",
        lifespan=lifespan,
        middleware=_middleware(service),
        docs_url="/docs",
        redoc_url=None,
    )
    answerer = Answerer(service, preparer)
    app.include_router(engine_routes(service, preparer))
    app.include_router(openai_routes(service, answerer))
    app.include_router(responses_routes(service, answerer))
    app.include_router(anthropic_routes(service, answerer, preparer))
    _handle_errors(app)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """The OpenAPI document, without FastAPI's own error for wrong bodies: ours is a 400 in each API's shape."""
    generate = app.openapi

    def document() -> dict[str, Any]:
        described = generate()
        for item in described["paths"].values():
            for operation in item.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            described["components"]["schemas"].pop(name, None)
        return described

    app.openapi = document  # type: ignore[method-assign]


def _middleware(service: Service) -> list[Middleware]:
    log = Middleware(LogRequests, log=service.requests)
    gate = Middleware(Gate, settings=service.settings, door=service.door)
    if not service.settings.cors_origins:
        return [log, gate]
    # Before the gate: a browser asks without a key whether it may ask.
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(service.settings.cors_origins),
        allow_methods=["*"],
        allow_headers=["*"],
    )
    return [log, cors, gate]


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def invalid(http: Request, error: RequestValidationError) -> Response:
        return _response(http, _validation_error(error))

    @app.exception_handler(HTTPException)
    async def not_served(http: Request, error: HTTPException) -> Response:
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "invalid_request")
        response = _response(http, ApiError(error.status_code, str(error.detail), code))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(SettingsError)
    async def wrong_setting(http: Request, error: SettingsError) -> Response:
        return _response(http, bad_request(str(error), "invalid_setting", "settings"))

    @app.exception_handler(GannetError)
    async def known(http: Request, error: GannetError) -> Response:
        return _response(http, from_exception(error))

    @app.exception_handler(ClientGone)
    async def gone(http: Request, error: ClientGone) -> Response:
        return Response(status_code=499)

    @app.exception_handler(Exception)
    async def defect(http: Request, error: Exception) -> Response:
        _log.exception("a request failed", exc_info=error)
        return _response(http, from_exception(error))


def _validation_error(error: RequestValidationError) -> ApiError:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    message = first["msg"][:1].lower() + first["msg"][1:]
    return bad_request(f"{where}: {message}" if where else message, param=where or None)


def _response(http: Request, error: ApiError) -> JSONResponse:
    body = error_body(error, dialect_of(http.url.path, "anthropic-version" in http.headers))
    return JSONResponse(body.content, body.status)
