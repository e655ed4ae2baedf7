"""How uvicorn serves the application, at the first address and at the door for other programs."""

from __future__ import annotations

from typing import Literal

import uvicorn
from fastapi import FastAPI

from engine.server.connection import connection_class
from engine.server.serve_settings import Limits

_GRACE_SECONDS = 2


def http_config(app: FastAPI, limits: Limits, lifespan: Literal["on", "off"]) -> uvicorn.Config:
    """uvicorn's settings. `lifespan`: "on" for the server whose start and end are those of the service."""
    return uvicorn.Config(
        app,
        http=connection_class(limits),
        ws="none",
        lifespan=lifespan,
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=limits.header_bytes,
    )
