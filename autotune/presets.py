"""Four presets for one model on one machine, from one tuning's measurements. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune.candidates import operating
from autotune.machine import MachineModel
from autotune.result import Preset
from engine.settings import EngineSettings
from engine.sizes import format_bytes

LIGHT_SHARE = 0.5
LONG_CONTEXT = 32768
SMALL_HEADROOM = 256 << 20
_MIB = 1 << 20


@dataclass(frozen=True)
class Tuned:
    """What the presets are derived from.

    `chosen`: changes to `base` that won. `tok_s`: their measured speed. `stall_s`: seconds of a token that it waited
    for the drive. `cache_bytes`: the cache they had. `resident_bytes`: weights always in memory. `threads`: what
    automatic means here. `model` is calibrated.
    """

    base: EngineSettings
    chosen: Mapping[str, Any]
    tok_s: float | None
    stall_s: float
    cache_bytes: int
    resident_bytes: int
    threads: int
    model: MachineModel


def presets(tuned: Tuned) -> tuple[Preset, ...]:
    """Balanced, Light on memory, Fastest, Long context."""
    if not tuned.model.facts.streamed or not tuned.cache_bytes:
        return (_balanced(tuned),)
    return (_balanced(tuned), _light(tuned), _fastest(tuned), _long(tuned))


def _speed(tuned: Tuned, cache_bytes: int) -> float | None:
    """Expected tokens per second with another cache: the measured speed times what the model says of the change."""
    if tuned.tok_s is None:
        return None

    def at(nbytes: int) -> float:
        return tuned.model.expect(operating(tuned.base, tuned.chosen, tuned.threads, nbytes)).tok_s

    now = at(tuned.cache_bytes)
    if now <= 0:
        return None
    # Whatever the model says: a larger cache can save the waiting for the drive, and no more.
    working = max(0.3 / tuned.tok_s, 1.0 / tuned.tok_s - tuned.stall_s)
    return min(tuned.tok_s * at(max(0, cache_bytes)) / now, 1.0 / working)


def _words(speed: float | None) -> str:
    return "an unknown speed" if speed is None else f"about {speed:.1f} tokens a second"


def _memory(tuned: Tuned, cache_bytes: int, context: int) -> int:
    return tuned.resident_bytes + cache_bytes + context * tuned.model.facts.kv_bytes_per_token


def _preset(tuned: Tuned, key: str, title: str, summary: str, changes: Mapping[str, Any], cache: int) -> Preset:
    settings = dict(tuned.chosen) | dict(changes)
    context = min(
        settings.get("context_length", tuned.base.context_length), tuned.model.facts.context_length or 1 << 30
    )
    speed = _speed(tuned, cache)
    memory = _memory(tuned, cache, context)
    return Preset(
        key=key,
        title=title,
        summary=summary.format(speed=_words(speed), memory=format_bytes(memory)),
        settings=settings,
        expected_tok_s=speed,
        memory_bytes=memory,
        measured=not changes,
    )


def _balanced(tuned: Tuned) -> Preset:
    summary = "The measured settings: {speed} here, with {memory} of memory and a reserve for other programs."
    return _preset(tuned, "balanced", "Balanced", summary, {}, tuned.cache_bytes)


def _light(tuned: Tuned) -> Preset:
    """Half the cache, but never below the experts of one layer, and smaller prompt batches."""
    facts = tuned.model.facts
    least = facts.n_used * facts.expert_bytes * 2
    cache = max(least, int(tuned.cache_bytes * LIGHT_SHARE) // _MIB * _MIB)
    changes = {"cache_bytes": cache, "ubatch": min(512, tuned.base.ubatch)}
    summary = "Takes {memory} of memory and leaves the rest to other programs: {speed}."
    return _preset(tuned, "light", "Light on memory", summary, changes, cache)


def _fastest(tuned: Tuned) -> Preset:
    """A smaller reserve, so a larger cache."""
    reserve = min(SMALL_HEADROOM, tuned.base.headroom_bytes)
    cache = min(tuned.cache_bytes + tuned.base.headroom_bytes - reserve, tuned.model.facts.experts_bytes)
    summary = "Takes nearly all free memory, {memory}: {speed}; other programs may feel it."
    return _preset(tuned, "fastest", "Fastest", summary, {"headroom_bytes": reserve}, cache)


def _long(tuned: Tuned) -> Preset:
    """As much context as the model was made for, up to a book, where at most half of the cache has to pay for it."""
    facts, base = tuned.model.facts, tuned.base.context_length
    affordable = base + tuned.cache_bytes // 2 // max(1, facts.kv_bytes_per_token)
    context = min(LONG_CONTEXT, facts.context_length or LONG_CONTEXT, affordable) // 1024 * 1024
    context = max(base, context)
    cache = tuned.cache_bytes - (context - base) * facts.kv_bytes_per_token
    summary = f"Room for {context:,} tokens of conversation, paid for with cache: {{speed}}, {{memory}} of memory."
    return _preset(tuned, "long_context", "Long context", summary, {"context_length": context}, cache)
