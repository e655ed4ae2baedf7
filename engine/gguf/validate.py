"""Checks of a whole model before llama.cpp sees it: what it would only log, or crash on, becomes one clear line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engine.errors import ModelFileError, one_line
from engine.gguf.architectures import is_supported
from engine.gguf.experts import ExpertTensor
from engine.gguf.files import ModelFiles
from engine.gguf.hyperparameters import hyperparameter_problems
from engine.gguf.types import ValueType
from engine.gguf.values import StoredArray

_NOT_MODELS = {
    "mmproj": "the part of a model that sees pictures; name the model's own file",
    "adapter": "an adapter (LoRA), which only changes a model; name the model's own file",
    "imatrix": "importance data for quantizing; name the model's own file",
    "controlvector": "a control vector, which only steers a model; name the model's own file",
}


def validate_model(files: ModelFiles) -> None:
    """Raise ModelFileError for the first thing that keeps the model from running."""
    for problem in _problems(files):
        raise ModelFileError(f"{files.path}: {problem}")


def _problems(files: ModelFiles) -> Iterator[str]:
    yield from _kind(files)
    yield from _architecture(files)
    yield from hyperparameter_problems(files)
    yield from _tokenizer(files)
    yield from _experts(files)


def _kind(files: ModelFiles) -> Iterator[str]:
    kind = files.metadata.get("general.type")
    kind = "mmproj" if files.architecture == "clip" else files.architecture if kind is None else kind
    if isinstance(kind, str) and kind in _NOT_MODELS:
        yield f"this is {_NOT_MODELS[kind]}"


def _architecture(files: ModelFiles) -> Iterator[str]:
    if not files.architecture:
        yield "metadata general.architecture is missing; the file is damaged or no language model, take another file"
    if not is_supported(files.architecture):
        yield (
            f"architecture {one_line(files.architecture)} is not one that this version of llama.cpp can run; "
            "update Gannet or take another model"
        )
    if not files.tensors:
        yield "the file has a vocabulary but no weights; take the model's own file"


def _tokenizer(files: ModelFiles) -> Iterator[str]:
    model = files.metadata.get("tokenizer.ggml.model")
    if not isinstance(model, str) or not model:
        yield "the tokenizer is missing (metadata tokenizer.ggml.model); take a complete conversion of the model"
    if model in ("none", "no_vocab"):
        return
    tokens = _list(files, "tokenizer.ggml.tokens")
    if tokens is None or files.value_types["tokenizer.ggml.tokens"] is not ValueType.STRING:
        yield "the vocabulary is missing (metadata tokenizer.ggml.tokens); take a complete conversion of the model"
        return
    for key in ("tokenizer.ggml.scores", "tokenizer.ggml.token_type"):
        if key in files.metadata and len(_list(files, key) or ()) < len(tokens):
            yield f"metadata {key} is shorter than the vocabulary; the file is damaged, download it again"
    if model != "hybriddna" and (twice := _first_twice(tokens)) is not None:
        yield f"token {one_line(twice)!r} is in the vocabulary twice; the file is damaged or badly converted"


def _first_twice(tokens: Sequence[str]) -> str | None:
    """The first token that was there before; llama.cpp gives empty ones names of their own and asserts the rest."""
    texts = tokens.read() if isinstance(tokens, StoredArray) else tokens
    seen: set[str] = set()
    if len(set(texts)) == len(texts):
        return None
    for text in texts:
        if text and text in seen:
            return text
        seen.add(text)
    return None


def _experts(files: ModelFiles) -> Iterator[str]:
    for expert in files.experts():
        yield from _expert_tensor(files, expert)


def _expert_tensor(files: ModelFiles, expert: ExpertTensor) -> Iterator[str]:
    tensor = expert.tensor
    if len(tensor.shape) not in (2, 3):
        yield f"expert tensor {tensor.name} has {len(tensor.shape)} dimensions instead of 3; the file is damaged"
    if not expert.chunked and expert.n_expert != files.n_expert:
        yield (
            f"tensor {tensor.name} holds {expert.n_expert} experts and the metadata says {files.n_expert}; "
            "the file is damaged or badly converted, take another file"
        )
    if expert.chunked and expert.n_expert > max(1, files.n_expert):
        yield f"tensor {tensor.name} holds more experts than the model's {files.n_expert}; the file is damaged"


def _list(files: ModelFiles, key: str) -> Sequence[Any] | None:
    value = files.metadata.get(key)
    return value if isinstance(value, Sequence) and not isinstance(value, str) else None
