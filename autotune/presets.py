"""Four presets for one model on one machine, from one tuning's measurements. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from autotune.axes import Automatic
from autotune.candidates import at_automatic, operating
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
    for the drive. `cache_bytes`: the cache they had. `resident_bytes`: weights always in memory. `model` is calibrated.
    `measured`: tokens per second of the same settings with a preset's smaller cache, by the preset's key.
    """

    base: EngineSettings
    chosen: Mapping[str, Any]
    tok_s: float | None
    stall_s: float
    cache_bytes: int
    resident_bytes: int
    automatic: Automatic
    model: MachineModel
    measured: Mapping[str, float] = field(default_factory=dict)


def smaller_caches(tuned: Tuned) -> dict[str, int]:
    """Bytes of the caches that presets give up memory for, by key, largest first.

    Measured in this order nothing has to be read anew: a cache that shrinks keeps the best of what it holds.
    """
    if not tuned.model.facts.streamed or not tuned.cache_bytes:
        return {}
    found = {"long_context": _long_cache(tuned, _long_context(tuned)), "light": _light_cache(tuned)}
    return {k: n for k, n in sorted(found.items(), key=lambda item: -item[1]) if n < tuned.cache_bytes}


def presets(tuned: Tuned) -> tuple[Preset, ...]:
    """Balanced, Light on memory, Fastest, Long context."""
    if not tuned.model.facts.streamed or not tuned.cache_bytes:
        return (_balanced(tuned),)
    return (_balanced(tuned), _light(tuned), _fastest(tuned), _long(tuned))


def expected_speed(tuned: Tuned, cache_bytes: int) -> float | None:
    """Expected tokens per second with another cache: the measured speed times what the model says of the change."""
    if tuned.tok_s is None:
        return None

    point = operating(tuned.base, tuned.chosen, tuned.automatic)

    def at(nbytes: int) -> float:
        return tuned.model.expect(replace(point, cache_bytes=nbytes)).tok_s

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
    speed = tuned.measured.get(key, expected_speed(tuned, cache))
    memory = _memory(tuned, cache, context)
    return Preset(
        key=key,
        title=title,
        summary=summary.format(speed=_words(speed), memory=format_bytes(memory)),
        settings=settings,
        expected_tok_s=speed,
        memory_bytes=memory,
        measured=not changes or key in tuned.measured,
    )


def _balanced(tuned: Tuned) -> Preset:
    summary = "The measured settings: {speed} here, with {memory} of memory and a reserve for other programs."
    return _preset(tuned, "balanced", "Balanced", summary, {}, tuned.cache_bytes)


def _light_cache(tuned: Tuned) -> int:
    """Half the cache, but never below the experts of one layer."""
    least = tuned.model.facts.n_used * tuned.model.facts.expert_bytes * 2
    return max(least, int(tuned.cache_bytes * LIGHT_SHARE) // _MIB * _MIB)


def _light(tuned: Tuned) -> Preset:
    """Half the cache and smaller prompt batches."""
    cache, ubatch = _light_cache(tuned), tuned.chosen.get("ubatch", tuned.base.ubatch)
    changes = {"cache_bytes": cache, "ubatch": min(512, ubatch)}
    summary = "Takes {memory} of memory and leaves the rest to other programs: {speed}."
    return _preset(tuned, "light", "Light on memory", summary, changes, cache)


def _fastest(tuned: Tuned) -> Preset:
    """A smaller reserve, so a larger cache; a given cache gives way to the automatic one."""
    reserve = min(SMALL_HEADROOM, tuned.base.headroom_bytes)
    free = max(tuned.cache_bytes, tuned.automatic.cache_bytes) + tuned.base.headroom_bytes - reserve
    cache = min(free, tuned.model.facts.experts_bytes)
    changes: dict[str, Any] = {"headroom_bytes": reserve}
    if not at_automatic(tuned.base, tuned.chosen):
        changes["cache_bytes"] = None
    summary = "Takes nearly all free memory, {memory}: {speed}; other programs may feel it."
    return _preset(tuned, "fastest", "Fastest", summary, changes, cache)


def _long_context(tuned: Tuned) -> int:
    """As much as the model was made for, up to a book, where at most half of the cache has to pay for it."""
    facts, base = tuned.model.facts, tuned.base.context_length
    affordable = base + tuned.cache_bytes // 2 // max(1, facts.kv_bytes_per_token)
    context = min(LONG_CONTEXT, facts.context_length or LONG_CONTEXT, affordable) // 1024 * 1024
    return max(base, context)


def _long_cache(tuned: Tuned, context: int) -> int:
    return tuned.cache_bytes - (context - tuned.base.context_length) * tuned.model.facts.kv_bytes_per_token


def _long(tuned: Tuned) -> Preset:
    """A longer context. An automatic cache becomes smaller by itself, a given one has to be told."""
    context = _long_context(tuned)
    cache = _long_cache(tuned, context)
    changes = {"context_length": context}
    if not at_automatic(tuned.base, tuned.chosen):
        changes["cache_bytes"] = cache
    summary = (
        f"Room for {context:,} tokens of conversation, paid for with cache: {{speed}} while it is short, "
        "{memory} of memory."
    )
    return _preset(tuned, "long_context", "Long context", summary, changes, cache)
