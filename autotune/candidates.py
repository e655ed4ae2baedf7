"""Which settings are worth measuring. Pure.

The machine model ranks every combination of the settings that change speed; the arms are the defaults, the best
combinations it sees, and every single step away from the defaults that it does not think hopeless: the model is
rough, and what each setting does alone is evidence that a person can read. Without lookahead is always among the first:
whether reading early pays differs between machines by more than the model knows (docs/policy.md).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autotune.axes import LIVE, RELOADED, Automatic, Sight, name_of, values
from autotune.machine import USUAL_PROMPT, Operating
from engine.settings import EngineSettings

HOPELESS = 0.6
"""What promises less than this share of the defaults' speed is not measured."""
WORTH_A_LOAD = 1.05
"""What needs a new load is only measured if it promises at least this much more."""


@dataclass(frozen=True)
class Candidate:
    """`changes` differ from the base settings. `expected_tok_s` is the machine model's guess of the decoding speed."""

    name: str
    changes: Mapping[str, Any]
    expected_tok_s: float


def operating(base: EngineSettings, changes: Mapping[str, Any], automatic: Automatic) -> Operating:
    """The operating point of `base` with `changes`."""
    threads, io_threads, lookahead = (
        changes.get(name, getattr(base, name)) for name in ("threads", "io_threads", "lookahead")
    )
    cache = automatic.loaded_cache_bytes
    if "cache_bytes" in changes:
        cache = automatic.cache_bytes if changes["cache_bytes"] is None else changes["cache_bytes"]
    return Operating(threads or automatic.threads, io_threads, lookahead, cache)


def candidates(sight: Sight, *, limit: int) -> tuple[Candidate, ...]:
    """The defaults first, then at most `limit - 1` challengers, the most promising first. All change a loaded model."""
    base, model = sight.base, sight.model
    found = values(LIVE if model.facts.streamed and sight.streaming else LIVE[:1], sight)  # else only threads matter

    def make(changes: Mapping[str, Any]) -> Candidate:
        automatic = {"threads": None} if changes.get("threads") == sight.automatic.threads else {}
        real = {n: v for n, v in {**changes, **automatic}.items() if v != getattr(base, n)}  # None follows the machine
        return Candidate(name_of(real), real, model.expect(operating(base, real, sight.automatic)).tok_s)

    known = {axis.setting: found[axis.setting] for axis in LIVE if axis.predicted and axis.setting in found}
    every = [make(dict(zip(known, chosen, strict=True))) for chosen in itertools.product(*known.values())]
    alone = [make({name: value}) for name, some in found.items() if name not in known for value in some]
    default = make({})
    own = {n: EngineSettings.model_fields[n].default for n in found if n != "cache_bytes" or None in found[n]}
    declared, without = make(own), make({**own, "lookahead": 0} if "lookahead" in found else own)
    ranked = sorted(every, key=_promise)
    single = _by_setting([*(c for c in ranked if len(c.changes) == 1), *alone])
    least = HOPELESS * default.expected_tok_s
    chosen = {c.name: c for c in (declared, without, *_in_turn(ranked[:8], single)) if c.expected_tok_s >= least}
    chosen = {default.name: default} | chosen
    return tuple(itertools.islice(chosen.values(), max(1, limit)))


def reloaded(sight: Sight, chosen: Mapping[str, Any], *, limit: int) -> tuple[Candidate, ...]:
    """At most `limit` changes beside `chosen` that need a new load and promise a faster turn of a conversation."""
    base, model = sight.base, sight.model
    at = operating(base, chosen, sight.automatic)
    tokens = max(sight.prompt_tokens, USUAL_PROMPT)
    now = model.turn_seconds(at, base.ubatch, tokens)
    found = []
    for name, some in values(RELOADED, sight).items():
        for value in some:
            if value == getattr(base, name):
                continue
            if name != "ubatch":  # the model knows nothing of it: worth a try
                found.append((0, False, Candidate(name_of({name: value}), {name: value}, model.expect(at).tok_s)))
                continue
            grown = model.facts.batch_bytes * (base.ubatch - value) if at_automatic(base, chosen) else 0
            moved = replace(at, cache_bytes=max(0, at.cache_bytes + grown))
            seconds = model.turn_seconds(moved, value, tokens)
            if now >= WORTH_A_LOAD * seconds:
                other = value != EngineSettings.model_fields[name].default  # wins among those that are as good
                found.append(
                    (_step(seconds), other, Candidate(name_of({name: value}), {name: value}, model.expect(moved).tok_s))
                )
    return tuple(candidate for *_, candidate in sorted(found, key=lambda item: item[:2])[:limit])


def at_automatic(base: EngineSettings, changes: Mapping[str, Any]) -> bool:
    """Whether the expert cache takes what is left."""
    return changes.get("cache_bytes", base.cache_bytes) is None


def _promise(candidate: Candidate) -> tuple[float, int, float]:
    """Sort key: the fastest first, but of those the model can hardly tell apart the one that changes least."""
    speed = candidate.expected_tok_s
    return -_step(speed) if speed > 0 else 0.0, len(candidate.changes), -speed


def _step(value: float) -> int:
    """The same for values that are within about 3 %: closer the machine model cannot tell."""
    return round(math.log(value) / math.log(1.03))


def _by_setting(steps: Sequence[Candidate]) -> list[Candidate]:
    """Steps of one setting each, in turn by setting, so that a small limit has one of each before a second of any."""
    grouped: dict[str, list[Candidate]] = {}
    for step in steps:
        for name in step.changes:
            grouped.setdefault(name, []).append(step)
    return [c for row in itertools.zip_longest(*grouped.values()) for c in row if c is not None]


def _in_turn(first: Sequence[Candidate], second: Sequence[Candidate]) -> list[Candidate]:
    """Alternately from both, so that a small limit has some of each."""
    return [c for pair in itertools.zip_longest(first, second) for c in pair if c is not None]
