"""`/engine/inspect`: a model file's facts as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.errors import ModelFileError
from engine.gguf import open_model
from engine.inspection import inspect_model
from engine.memory import memory_available
from engine.server.errors import ApiError
from engine.settings import EngineSettings


def facts(path: Path, settings: EngineSettings) -> dict[str, Any]:
    """What the header says, and what would fit here. Raises `ApiError` 400 for a file that cannot be run."""
    try:
        files = open_model(path)
    except ModelFileError as error:
        raise ApiError(400, str(error), "model_file", param="path") from error
    return inspect_model(files, settings, memory_available()).to_json()
