"""Combinations of engine settings that are invalid, useless or costly, each explained in a sentence. Pure.

The sentences are source texts for `tr`, with `{fields}` filled in afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.presets.schema import SettingSpec


@dataclass(frozen=True)
class Finding:
    """Something to say about a combination.

    Attributes:
        names: settings it concerns; the form marks them.
        text: source text; `values` fill its fields.
        blocking: whether the engine would refuse it; otherwise it is advice.
    """

    names: tuple[str, ...]
    text: str
    values: Mapping[str, str] = field(default_factory=dict)
    blocking: bool = False


@dataclass(frozen=True)
class Surroundings:
    """What the settings meet here: memory of the machine, cores, the model's longest context (0: unknown)."""

    memory_bytes: int = 0
    cores: int = 0
    model_context: int = 0


def findings(values: Mapping[str, Any], specs: tuple[SettingSpec, ...], around: Surroundings) -> tuple[Finding, ...]:
    """Everything to say about these settings: first what is invalid by itself, then combinations."""
    found = [
        Finding((spec.name,), "{title} {problem}.", {"title": spec.title, "problem": problem}, blocking=True)
        for spec in specs
        if (problem := spec.problem(values.get(spec.name, spec.default)))
    ]
    wrong = {name for finding in found for name in finding.names}
    known = {spec.name: None if spec.name in wrong else values.get(spec.name, spec.default) for spec in specs}
    for rule in _RULES:
        finding = rule(known, around)
        if finding is not None and all(name in known for name in finding.names):
            found.append(finding)
    return tuple(found)


def _plain(values: Mapping[str, Any], around: Surroundings) -> Finding | None:
    ignored = [name for name in ("cache_bytes", "lookahead", "io_threads") if values.get(name) is not None]
    if values.get("plain") and ignored:
        return Finding(("plain",), "Plain llama.cpp reads no experts: cache, lookahead and read threads do nothing.")
    return None


def _batch(values: Mapping[str, Any], around: Surroundings) -> Finding | None:
    batch, context = values.get("ubatch") or 0, values.get("context_length") or 0
    if context and batch > context:
        return Finding(
            ("ubatch", "context_length"), "The prompt batch is larger than the context, so {context} tokens are used.",
            {"context": str(context)},
        )  # fmt: skip
    return None


def _context(values: Mapping[str, Any], around: Surroundings) -> Finding | None:
    context = values.get("context_length") or 0
    if around.model_context and context > around.model_context:
        return Finding(
            ("context_length",), "This model was made for {limit} tokens of context; more is not used.",
            {"limit": str(around.model_context)},
        )  # fmt: skip
    return None


def _memory(values: Mapping[str, Any], around: Surroundings) -> Finding | None:
    cache = values.get("cache_bytes") or 0
    if around.memory_bytes and cache > around.memory_bytes * 0.9:
        return Finding(
            ("cache_bytes",), "The cache is nearly as large as this computer's memory ({memory}); it will be smaller.",
            {"memory": f"{around.memory_bytes / 1e9:.0f} GB"},
        )  # fmt: skip
    return None


def _lookahead(values: Mapping[str, Any], around: Surroundings) -> Finding | None:
    if (values.get("lookahead") or 0) > 0 and values.get("io_threads") == 1:
        return Finding(
            ("lookahead", "io_threads"),
            "With one read thread, reading ahead makes the experts that are needed now wait. Use 4 or more.",
        )
    return None


def _threads(values: Mapping[str, Any], around: Surroundings) -> Finding | None:
    threads = values.get("threads") or 0
    if around.cores and threads > around.cores:
        return Finding(
            ("threads",), "More compute threads than the {cores} cores here usually make it slower.",
            {"cores": str(around.cores)},
        )  # fmt: skip
    return None


def _greedy(values: Mapping[str, Any], around: Surroundings) -> Finding | None:
    if values.get("temperature") == 0 and values.get("seed") is not None:
        return Finding(("temperature", "seed"), "At temperature 0 nothing is left to chance, so the seed does nothing.")
    return None


_RULES: tuple[Callable[[Mapping[str, Any], Surroundings], Finding | None], ...] = (
    _plain, _batch, _context, _memory, _lookahead, _threads, _greedy,
)  # fmt: skip
