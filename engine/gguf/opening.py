"""Opening a model: from what a person named (a file, any part of a split, a folder) to checked files."""

from __future__ import annotations

import os
from pathlib import Path

from engine.errors import ModelFileError
from engine.gguf.files import ModelFiles
from engine.gguf.header import read_header
from engine.gguf.splits import SPLIT_NAME, read_parts, refuse_slice
from engine.gguf.validate import validate_model


def open_model(path: str | os.PathLike[str]) -> ModelFiles:
    """Read and check everything about a model but its weights.

    `path` is a GGUF file, any part of a split model, or a folder with one model. Raises ModelFileError, one line that
    names the file, what is wrong and the cure, for everything that would keep llama.cpp from running it.
    """
    chosen = _absolute(Path(path))
    if os.path.isdir(chosen):  # noqa: PTH112 (Path.is_dir raises for names that are too long or may not be looked at)
        chosen = only_model_in(chosen)
    refuse_slice(chosen)
    files = ModelFiles.from_headers(read_parts(read_header(chosen)))
    validate_model(files)
    return files


def _absolute(path: Path) -> Path:
    try:
        # Not resolved: the parts of a split may be links whose targets have other names.
        return path.expanduser().absolute()
    except (OSError, RuntimeError) as problem:
        raise ModelFileError(
            f"{path}: this path leads nowhere ({problem}); name the file by its full path"
        ) from problem


def only_model_in(folder: Path) -> Path:
    """The folder's one model (the first part of a split); raises ModelFileError where there is none or a choice."""
    models = models_in(folder)
    # A model that sees pictures comes with a projector beside it, which is no choice of its own.
    models = [path for path in models if "mmproj" not in path.name.lower()] or models
    if not models:
        raise ModelFileError(f"{folder}: there is no .gguf file in this folder; name a model file")
    if len(models) > 1:
        names = ", ".join(path.name for path in models[:8]) + (", ..." if len(models) > 8 else "")
        raise ModelFileError(f"{folder}: this folder has {len(models)} models ({names}); name one of them")
    return models[0]


def models_in(folder: Path) -> list[Path]:
    """The GGUF files directly in a folder, sorted by name, a split one standing for its parts."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf" and path.is_file())
    except OSError as problem:
        raise ModelFileError(
            f"{folder}: cannot be listed ({problem.strerror or problem}); check its permissions"
        ) from problem
    seen: dict[str, Path] = {}
    for path in found:
        match = SPLIT_NAME.fullmatch(path.name)
        seen.setdefault(f"{match['prefix']}/{match['count']}" if match else path.name, path)
    return list(seen.values())
