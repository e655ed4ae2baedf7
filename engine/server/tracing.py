"""Turning the routing trace of a loaded model on and off."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from engine.loader import LoadedModel
from engine.server.errors import ApiError


@runtime_checkable
class Traceable(Protocol):
    """A loaded model that records which experts each token used."""

    def start_trace(self, path: Path) -> None:
        """Record to `path` from now on."""

    def stop_trace(self) -> None:
        """Stop recording and complete the file; nothing happens if nothing is recorded."""


def start(loaded: LoadedModel, path: Path) -> None:
    """Record the routing of `loaded` to `path`. Raises `ApiError` 409 if its experts are not streamed."""
    if not isinstance(loaded, Traceable) or not loaded.streaming:
        raise ApiError(409, "this model's experts are not streamed, so there is no routing to trace", "not_streaming")
    loaded.start_trace(path)


def stop(loaded: LoadedModel) -> None:
    """Stop recording."""
    if isinstance(loaded, Traceable):
        loaded.stop_trace()
