"""Which settings are worth measuring. Pure.

The machine model ranks every combination of the settings that change speed; the arms are the defaults, the best
combinations it sees, and every single step away from the defaults that it does not think hopeless: the model is
rough, and what each setting does alone is evidence that a person can read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune.machine import MachineModel, Operating
from engine.settings import EngineSettings

DEFAULTS = "defaults"
HOPELESS = 0.6
"""What promises less than this share of the defaults' speed is not measured."""
_WORDS = {"threads": "compute thread", "io_threads": "read thread", "lookahead": "lookahead"}


@dataclass(frozen=True)
class Candidate:
    """`changes` differ from the base settings. `expected_tok_s` is the machine model's guess."""

    name: str
    changes: Mapping[str, Any]
    expected_tok_s: float


def axes(model: MachineModel, base: EngineSettings, threads: int) -> dict[str, tuple[int, ...]]:
    """Values worth trying of each setting, by its name in `EngineSettings`. `threads`: what automatic means here."""
    depths = [depth for depth, _ in model.drive] or [8]
    best = max(model.drive, key=lambda p: p[1])[0] if model.drive else 8
    io = {8, *(d for d in depths if best / 2 <= d <= best * 4 and 2 <= d <= 32), base.io_threads}
    compute = {n for n, s in model.compute if s <= 1.6 * min(t for _, t in model.compute)} | {threads}
    if base.threads is not None:
        compute.add(base.threads)
    ahead = {0, 1, 2, 3, base.lookahead}
    return {
        "threads": tuple(sorted(compute)),
        "io_threads": tuple(sorted(io)),
        "lookahead": tuple(sorted(ahead)),
    }


def operating(base: EngineSettings, changes: Mapping[str, Any], threads: int, cache_bytes: int) -> Operating:
    """The operating point of `base` with `changes`; `threads` and `cache_bytes` stand for the automatic values."""
    values = {name: changes.get(name, getattr(base, name)) for name in ("threads", "io_threads", "lookahead")}
    return Operating(values["threads"] or threads, values["io_threads"], values["lookahead"], cache_bytes)


def candidates(
    model: MachineModel, base: EngineSettings, *, threads: int, cache_bytes: int, limit: int
) -> tuple[Candidate, ...]:
    """The defaults first, then at most `limit - 1` challengers, the most promising first."""

    def make(changes: dict[str, Any]) -> Candidate:
        if changes.get("threads") == threads:
            changes = changes | {"threads": None}  # the automatic number: it follows the machine
        real = {name: value for name, value in changes.items() if value != getattr(base, name)}
        return Candidate(name_of(real), real, model.expect(operating(base, real, threads, cache_bytes)).tok_s)

    found = axes(model, base, threads) if model.facts.streamed else {"threads": axes(model, base, threads)["threads"]}
    every = [make(dict(zip(found, values, strict=True))) for values in itertools.product(*found.values())]
    default = make({})
    declared = make({name: EngineSettings.model_fields[name].default for name in found})
    ranked = sorted(every, key=_promise)
    single = [c for c in ranked if len(c.changes) == 1]
    least = HOPELESS * default.expected_tok_s
    chosen = {c.name: c for c in (declared, *_in_turn(ranked[:8], single)) if c.expected_tok_s >= least}
    chosen = {default.name: default} | chosen
    return tuple(itertools.islice(chosen.values(), max(1, limit)))


def _promise(candidate: Candidate) -> tuple[float, int, float]:
    """Sort key: the fastest first, but of those the model can hardly tell apart the one that changes least."""
    speed = candidate.expected_tok_s
    return -round(math.log(speed) / math.log(1.03)) if speed > 0 else 0.0, len(candidate.changes), -speed


def _in_turn(first: Sequence[Candidate], second: Sequence[Candidate]) -> list[Candidate]:
    """Alternately from both, so that a small limit has some of each."""
    return [c for pair in itertools.zip_longest(first, second) for c in pair if c is not None]


def name_of(changes: Mapping[str, Any]) -> str:
    """An arm's name in words: "16 read threads, lookahead 2"."""
    if not changes:
        return DEFAULTS
    parts = []
    for name, value in sorted(changes.items(), key=lambda item: list(_WORDS).index(item[0])):
        if value is None:
            parts.append(f"automatic {_WORDS[name]}s")
            continue
        parts.append(f"lookahead {value}" if name == "lookahead" else f"{value} {_WORDS[name]}{'s' * (value != 1)}")
    return ", ".join(parts)
