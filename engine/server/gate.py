"""Who may come in: checked before anything of a request is read.

Every route but `/health` needs the key. `Host` must name this machine, so that a web page whose name was made to
point here cannot come in; a request from a page (`Origin`) must come from an allowed one. Bodies and headers are
bounded in size and time.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.server.dialect import dialect_of
from engine.server.door import Door
from engine.server.errors import ApiError, error_body
from engine.server.serve_settings import Limits, ServeSettings

_OPEN_PATHS = frozenset({"/health"})
_OWNER_PATHS = frozenset({"/engine/door"})
"""What a program that came in by the door may not do: open it wider."""


class Gate:
    """ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp, settings: ServeSettings, door: Door) -> None:
        self._app = app
        self._door = door
        self._key = settings.key.encode()
        self._hosts = {"localhost", settings.host.lower(), *(name.lower() for name in settings.hosts)}
        self._origins = frozenset(settings.cors_origins)
        self._limits = settings.limits
        self._bodies = _Bodies(settings.limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with an error."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(refusal, scope, headers, send)
            return
        try:
            body = await self._bodies.read(receive)
        except ApiError as error:
            await _answer(error, scope, headers, send)
            return
        if body is not None:
            await self._app(scope, _Replay(body, receive), send)

    def _refusal(self, scope: Scope, headers: Headers) -> ApiError | None:
        if len(scope["headers"]) > self._limits.header_count:
            return ApiError(431, f"more than {self._limits.header_count} headers", "too_many_headers")
        if not self._host_allowed(headers.get("host", "")):
            return ApiError(403, "this Host is not served here; start with --allow-host NAME to allow it", "bad_host")
        if not self._origin_allowed(headers.get("origin"), headers.get("host", "")):
            return ApiError(403, "web pages of this origin may not use the engine", "bad_origin")
        if scope["path"] not in _OPEN_PATHS:
            key = _given_key(headers)
            owner = hmac.compare_digest(key, self._key)
            if not owner and not self._door.admits(key):
                return ApiError(401, "the key is missing or wrong; send it as 'Authorization: Bearer KEY'", "bad_key")
            if not owner and scope["path"] in _OWNER_PATHS:
                return ApiError(403, "only the window that started this engine may do that", "not_the_owner")
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._limits.body_bytes:
            return _too_large(self._limits.body_bytes)
        return None

    def _host_allowed(self, host: str) -> bool:
        name = _without_port(host).lower()
        if name in self._hosts:
            return True
        try:  # an address cannot be made to point elsewhere by a name server
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def _origin_allowed(self, origin: str | None, host: str) -> bool:
        return origin is None or origin in self._origins or origin == f"http://{host}"


def _given_key(headers: Headers) -> bytes:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    given = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
    return given.encode("utf-8", "surrogateescape")


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _too_large(limit: int) -> ApiError:
    return ApiError(413, f"the request is larger than {limit} bytes", "request_too_large")


class _Bodies:
    """Reads bodies, bounded one by one and all those together that are still arriving."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._arriving = 0

    async def read(self, receive: Receive) -> bytes | None:
        """The whole body; None if the client left meanwhile.

        Raises `ApiError` if it is too large or takes too long, or if too much is arriving at once.
        """
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    self._add(body, message.get("body", b""))
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            seconds = self._limits.body_seconds
            raise ApiError(408, f"the request did not arrive within {seconds:g} s", "request_timeout") from None
        finally:
            self._arriving -= len(body)

    def _add(self, body: bytearray, piece: bytes) -> None:
        if len(body) + len(piece) > self._limits.body_bytes:
            raise _too_large(self._limits.body_bytes)
        if self._arriving + len(piece) > self._limits.arriving_bytes:
            raise ApiError(503, "too many large requests at once; try again", "overloaded")
        body += piece
        self._arriving += len(piece)


class _Replay:
    """`receive` that gives a body that was read already, then waits for the client to leave."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        body, self._body = self._body, None
        if body is None:
            return await self._receive()
        return {"type": "http.request", "body": body, "more_body": False}


async def _answer(error: ApiError, scope: Scope, headers: Headers, send: Send) -> None:
    body = error_body(error, dialect_of(scope["path"], "anthropic-version" in headers))
    content = json.dumps(body.content).encode()
    shown: Iterable[tuple[bytes, bytes]] = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        (b"connection", b"close"),  # what is left of the body is not read
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": list(shown)})
    await send({"type": "http.response.body", "body": content})
