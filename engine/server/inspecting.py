"""`/engine/inspect`: a model file's facts as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.errors import ModelFileError
from engine.gguf import open_model
from engine.server.errors import ApiError
from engine.settings import EngineSettings


def facts(path: Path, settings: EngineSettings) -> dict[str, Any]:
    """What the header says. Raises `ApiError` 400 for a file that cannot be run."""
    try:
        files = open_model(path)
    except ModelFileError as error:
        raise ApiError(400, str(error), "model_file", param="path") from error
    del settings
    return {
        "name": files.name,
        "architecture": files.architecture,
        "paths": [str(part) for part in files.paths],
        "total_bytes": files.total_bytes,
        "n_layer": files.n_layer,
        "n_expert": files.n_expert,
        "n_expert_used": files.n_expert_used,
        "context_length": files.context_length,
    }
