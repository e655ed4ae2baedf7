"""Stock llama.cpp's computation of a tiny model, in a process that never registered a backend of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.gguf import open_model
from engine.loader import load
from engine.settings import EngineSettings
from engine.verification import Recording, record

CONTEXT, LARGEST_BATCH, DECODE = 128, 64, 4


def settings(**changes: object) -> EngineSettings:
    """What plain and streamed runs share."""
    common = {"context_length": CONTEXT, "ubatch": LARGEST_BATCH, "threads": 1, "io_threads": 4}
    return EngineSettings.model_validate(common | changes)


def plain_recordings(path: Path, runs: Sequence[tuple[int, Sequence[int]]], **changes: object) -> list[Recording]:
    """One recording for each run: a size of prompt batch and a prompt."""
    with load(open_model(path), settings(plain=True, **changes)) as loaded:
        return [record(loaded, prompt, DECODE, batch) for batch, prompt in runs]
