"""Which values of each setting are worth trying on a machine. Pure.

`LIVE` settings change on a loaded model and are raced against each other token for token. `RELOADED` ones need a new
load and are compared by whole turns of a conversation: load, prompt, answer (`autotune.turns`). A setting that the
engine does not declare is never proposed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune.machine import MachineModel
from autotune.probes.gpu import GpuDevice
from engine.settings import EngineSettings

WORTH_GROWING = 1.1
"""An automatic cache is proposed instead of a given one if it is this much larger."""
WORTH_SHRINKING = 0.2
"""A smaller prompt batch is proposed if it frees this share of the expert cache."""
GPU_RESERVE = 512 << 20
"""Bytes of a graphics card's memory that its own buffers and the desktop take."""


@dataclass(frozen=True)
class Automatic:
    """What the automatic values are here, and the expert cache in effect under the base settings. Bytes."""

    threads: int
    cache_bytes: int
    loaded_cache_bytes: int


@dataclass(frozen=True)
class Sight:
    """All that the values are chosen from.

    `prompt_tokens`: the longest prompt there is time to measure. `devices`: graphics cards the engine can use.
    `streaming`: False where the model was loaded whole, as it fits into memory.
    """

    model: MachineModel
    base: EngineSettings
    automatic: Automatic
    prompt_tokens: int = 0
    devices: Sequence[GpuDevice] = ()
    streaming: bool = True


@dataclass(frozen=True)
class Axis:
    """A setting by its name in `EngineSettings`, the values to try, and an arm's name for a value.

    `predicted`: whether the machine model knows what it does. What it does not know is tried by itself, not combined.
    """

    setting: str
    values: Callable[[Sight], Iterable[Any]]
    words: Callable[[Any], str]
    predicted: bool = True


def _threads(sight: Sight) -> set[Any]:
    """Every measured number that is not far behind the best; automatic; what is set."""
    compute = sight.model.compute
    fastest = min((seconds for _, seconds in compute), default=0.0)
    near = {n for n, seconds in compute if seconds <= 1.6 * fastest}
    return near | {sight.automatic.threads, sight.base.threads or sight.automatic.threads}


def _io_threads(sight: Sight) -> set[Any]:
    """Around the queue depth at which the drive was best."""
    drive = sight.model.drive
    best = max(drive, key=lambda p: p[1])[0] if drive else 8
    return {8, sight.base.io_threads, *(d for d, _ in drive if best / 2 <= d <= best * 4 and 2 <= d <= 32)}


def _lookahead(sight: Sight) -> set[Any]:
    return {0, 1, 2, 3, sight.base.lookahead}


def _early(values: Callable[[Sight], set[Any]]) -> Callable[[Sight], set[Any]]:
    """Values that matter only where something is read early."""
    return lambda sight: values(sight) if sight.base.lookahead > 0 else set()


def _prefetch_bar(sight: Sight) -> set[Any]:
    """How likely a guess must be to be read early: by itself (None), and fixed from eager to careful."""
    return {None, 0.1, 0.3, 0.6, 0.9, getattr(sight.base, "prefetch_bar", None)}


def _prefetch_depth(sight: Sight) -> set[Any]:
    """Fewer early reads leave the drive to what is needed now, more use a drive that likes deep queues."""
    return {1, 2, 4, 8, getattr(sight.base, "prefetch_depth", 2)}


def _lookahead_width(sight: Sight) -> set[Any]:
    """As many experts as a token uses (None), half as many, and half as many more."""
    used = sight.model.facts.n_used
    return {None, max(1, used // 2), max(1, used * 3 // 2), getattr(sight.base, "lookahead_width", None)}


def _cache(sight: Sight) -> set[Any]:
    """A given cache, and the automatic one (None) where that is clearly larger.

    A smaller cache is no candidate: it can save memory but no time. The presets measure what it costs.
    """
    given, automatic = sight.base.cache_bytes, sight.automatic.cache_bytes
    grows = given is not None and automatic > WORTH_GROWING * sight.automatic.loaded_cache_bytes
    return {given, None} if grows else {given}


def _streamed(sight: Sight) -> set[Any]:
    """For a model that is loaded whole: streamed with room for every expert, which decodes with our own kernels."""
    facts = sight.model.facts
    return {sight.base.cache_bytes, facts.experts_bytes} if facts.streamed and not sight.streaming else set()


def _batches(sight: Sight) -> set[Any]:
    """Sizes that take the measured prompt in fewer steps than now, or leave much more memory to an automatic cache.

    A smaller one makes long prompts slower, so it is only tried where a prompt that shows this can be measured.
    """
    base, tokens = sight.base.ubatch, sight.prompt_tokens
    steps = math.ceil(tokens / base)
    fewer = {n for n in (256, 512, 1024, 2048, 4096) if n > base and math.ceil(tokens / n) < steps}
    smaller: set[int] = set()
    if sight.base.cache_bytes is None:
        least = WORTH_SHRINKING * sight.automatic.loaded_cache_bytes
        freed = {n: (base - n) * sight.model.facts.batch_bytes for n in (128, 256, 512) if 2 * n <= tokens}
        smaller = {n for n, nbytes in freed.items() if n < base and nbytes >= least}
    fitting = {n for n in fewer | smaller if n <= max(256, sight.base.context_length)}
    return fitting | {base}


def _gpu_layers(sight: Sight) -> set[Any]:
    """Whole layers on the graphics cards: none, half of what fits, what fits; the layers are taken as equally large."""
    facts = sight.model.facts
    if not sight.devices:
        return set()
    layer = max(1, facts.dense_bytes // max(1, facts.n_layer) + facts.kv_bytes_per_token * sight.base.context_length)
    fits = min(facts.n_layer, sum(max(0, d.free_bytes - GPU_RESERVE) for d in sight.devices) // layer)
    return {0, fits // 2, fits}


def _vram_cache(sight: Sight) -> set[Any]:
    """Experts in the graphics cards' memory: none, or half or all of what the always-used weights leave there."""
    facts = sight.model.facts
    if not sight.devices:
        return set()
    free = sum(max(0, d.free_bytes - GPU_RESERVE) for d in sight.devices) - facts.dense_bytes
    most = max(0, min(free, facts.experts_bytes)) >> 20 << 20
    return {0, most // 2, most}


def _counted(word: str) -> Callable[[Any], str]:
    """ "1 read thread", "8 read threads", "automatic read threads"."""
    return lambda n: f"automatic {word}s" if n is None else f"{n} {word}{'s' * (n != 1)}"


def _cache_words(nbytes: int | None) -> str:
    return "automatic cache" if nbytes is None else f"cache of {nbytes >> 20} MiB"


LIVE: tuple[Axis, ...] = (
    Axis("threads", _threads, _counted("compute thread")),
    Axis("io_threads", _io_threads, _counted("read thread")),
    Axis("lookahead", _lookahead, lambda n: f"lookahead {n}"),
    Axis(
        "prefetch_bar",
        _early(_prefetch_bar),
        lambda p: "automatic read-ahead bar" if p is None else f"read-ahead bar {p:g}",
        predicted=False,
    ),
    Axis("prefetch_depth", _early(_prefetch_depth), _counted("early read"), predicted=False),
    Axis(
        "lookahead_width",
        _early(_lookahead_width),
        lambda n: "automatic lookahead width" if n is None else f"lookahead width {n}",
        predicted=False,
    ),
    Axis("cache_bytes", _cache, _cache_words),
)
RELOADED: tuple[Axis, ...] = (
    Axis("cache_bytes", _streamed, _cache_words),
    Axis("ubatch", _batches, lambda n: f"prompt batch {n}"),
    Axis("gpu_layers", _gpu_layers, _counted("GPU layer")),
    Axis("vram_cache_bytes", _vram_cache, lambda n: f"{n >> 20} MiB of experts in VRAM"),
)
_WORDS: Mapping[str, Callable[[Any], str]] = {axis.setting: axis.words for axis in (*LIVE, *RELOADED)}
_ORDER = tuple(dict.fromkeys(axis.setting for axis in (*LIVE, *RELOADED)))
DEFAULTS = "defaults"


def values(axes: Sequence[Axis], sight: Sight, declared: Iterable[str] | None = None) -> dict[str, tuple[Any, ...]]:
    """Values worth trying by setting; `declared`: the settings there are (the engine's own by default)."""
    known = set(EngineSettings.model_fields if declared is None else declared)
    found = {axis.setting: axis.values(sight) for axis in axes if axis.setting in known}
    return {name: tuple(sorted(some, key=lambda v: (v is None, v or 0))) for name, some in found.items() if some}


def name_of(changes: Mapping[str, Any]) -> str:
    """An arm's name in words: "16 read threads, lookahead 2"."""
    parts = [_WORDS[name](changes[name]) for name in _ORDER if name in changes]
    return ", ".join(parts) or DEFAULTS
