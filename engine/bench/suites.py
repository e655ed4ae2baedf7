"""What is compared, as data: the arms of each suite and the claims that its figures have to hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.settings import make_settings

EACH = "each"
"""A cache of this size stands for one arm for every cache size that is compared."""

CACHES = ("2000MiB", "4000MiB", "6000MiB")
SMALL_CACHES = ("12%", "25%", "50%")
"""For models that are smaller than the largest of `CACHES`: shares of the expert bytes."""


@dataclass(frozen=True)
class Arm:
    """One way to run a model.

    Attributes:
        name: what tables call it.
        plain: stock llama.cpp.
        cache: size of the expert cache as a user writes it, or `EACH`.
        settings: further engine settings by field name.
        limited: under the memory limit.
        cold: with nothing of the model in the page cache.
        tokens, warm_tokens, repeats: instead of the suite's.
        rounds: in the first rounds only; None: in all.
        idle_s: seconds without work between the load and the prompt, in which a census, made in the same run on
            another text, fills the cache; 0: no census.
    """

    name: str
    plain: bool = False
    cache: str | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    limited: bool = False
    cold: bool = False
    tokens: int | None = None
    warm_tokens: int | None = None
    repeats: int | None = None
    rounds: int | None = None
    idle_s: float = 0.0


@dataclass(frozen=True)
class Claim:
    """`figure` of `arm`, or its ratio to that of `against` (to its `against_figure`, if another), keeps to `bound`."""

    figure: str
    arm: str
    bound: float
    against: str | None = None
    against_figure: str | None = None
    direction: Literal["at least", "at most"] = "at least"


@dataclass(frozen=True)
class Suite:
    """Arms that run in turn, over and over.

    Attributes:
        prompt_tokens: length of the prompt. tokens: how many are decoded.
        warm_tokens: of these, the first ones that the decode figures leave out.
        repeats: answers one after the other in one process, from an empty context each.
        blocks: parts of the first answer whose speed and memory are told one by one.
        columns: figures that the table of the suite shows.
        caches: cache sizes to compare where the command line names none.
    """

    name: str
    title: str
    arms: tuple[Arm, ...]
    claims: tuple[Claim, ...]
    columns: tuple[str, ...]
    prompt_tokens: int = 20
    tokens: int = 48
    warm_tokens: int = 8
    repeats: int = 1
    blocks: int = 0
    caches: tuple[str, ...] = CACHES

    def expanded(self, caches: Sequence[str]) -> Suite:
        """With one arm for each of `caches` in place of every arm whose cache is `EACH`."""
        arms: list[Arm] = []
        for arm in self.arms:
            if arm.cache != EACH:
                arms.append(arm)
                continue
            arms += [replace(arm, cache=cache, name=arm.name.replace(EACH, cache)) for cache in caches]
        return replace(self, arms=tuple(arms), caches=tuple(caches))


# Its second answer is measured too: in the first one the kernel still maps the pages of the file, one after the other.
STOCK = Arm("llama.cpp in memory", plain=True, repeats=2)
MMAP = Arm("llama.cpp mmap", plain=True, limited=True, cold=True, tokens=8, warm_tokens=2)
STREAMED = Arm("gannet each", cache=EACH, limited=True)
# Experts are read past the page cache, so only what opens the file, the load, is faster when that is not empty.
COLD = replace(STREAMED, cold=True)
WARMED = replace(STREAMED, name="gannet each, filled from a census", idle_s=30.0)

_DECODE = (
    "load_s",
    "first_token_s",
    "prompt_tok_s",
    "decode_tok_s",
    "second_tok_s",
    "hit_rate",
    "read_mib",
    "stall_ms",
    "peak_gib",
)
_ROOFLINE = ("decode_tok_s", "compute_ms", "missed_mib", "drive_mib_s", "io_ms", "roofline_share")
_PROMPT = ("load_s", "first_token_s", "prompt_tok_s", "prompt_read_gib", "read_ratio", "first_over_tenth", "peak_gib")
_BOUND = ("drive_mib_s", "bound_s", "first_token_over_bound")
_AT_4000 = "gannet 4000MiB"
_WARMED_4000 = "gannet 4000MiB, filled from a census"


_AS_SET = {"lookahead_trial": 0}
"""For arms that are about lookahead itself: it does what the arm says, whether it pays here or not."""


def _over_mapped(arm: str) -> Claim:
    """Our first answer against llama.cpp's second."""
    return Claim("decode_tok_s", arm, 1, STOCK.name, "second_tok_s")


def _looking_ahead(distance: int) -> Arm:
    return replace(STREAMED, name=f"gannet each, lookahead {distance}", settings={"lookahead": distance} | _AS_SET)


def _lookahead_pays(cache: str, bound: float) -> Claim:
    chosen = make_settings({}).lookahead
    return Claim("decode_tok_s", f"gannet {cache}, lookahead {chosen}", bound, f"gannet {cache}, lookahead 0")


def _never_costs(cache: str) -> Claim:
    """As shipped, with the trial that lets lookahead rest where it does not pay."""
    return Claim("decode_tok_s", f"gannet {cache}", 0.98, f"gannet {cache}, lookahead 0")


def _reading_early(**settings: float) -> Arm:
    words = ", ".join(f"{name.removeprefix('prefetch_')} {value}" for name, value in settings.items())
    return replace(STREAMED, name=f"gannet each, {words}", settings=settings | _AS_SET)


_OTHERS_EARLY = (
    _reading_early(prefetch_depth=1),
    _reading_early(prefetch_depth=4),
    _reading_early(prefetch_bar=0.2),
    _reading_early(prefetch_bar=0.4),
    _reading_early(prefetch_bar=0.7),
    replace(STREAMED, name="gannet each, width 12", settings={"lookahead_width": 12} | _AS_SET),
)


def _as_good_as(arm: Arm) -> Claim:
    return Claim("decode_tok_s", _AT_4000, 0.97, arm.name.replace(EACH, "4000MiB"))


_ALL = (
    Suite(
        "scale",
        "A model twice as large as memory",
        (replace(MMAP, rounds=3), COLD, STOCK),
        (
            Claim("decode_tok_s", _AT_4000, 24, MMAP.name),
            Claim("decode_tok_s", _AT_4000, 1, STOCK.name),
            Claim("first_token_s", _AT_4000, 10.5, direction="at most"),
            Claim("peak_over_limit", _AT_4000, 1, direction="at most"),
            Claim("oom_kills", _AT_4000, 0, direction="at most"),
        ),
        _DECODE,
        caches=("4000MiB",),
    ),
    Suite(
        "cache",
        "Decoding by size of the cache",
        (STOCK, STREAMED),
        (
            Claim("decode_tok_s", "gannet 6000MiB", 1.7, STOCK.name),
            Claim("decode_tok_s", _AT_4000, 1.3, STOCK.name),
            Claim("decode_tok_s", "gannet 2000MiB", 0.9, STOCK.name),
            *(Claim("roofline_share", f"gannet {cache}", 0.85) for cache in CACHES),
            *(_over_mapped(f"gannet {cache}") for cache in CACHES),
        ),
        (*_DECODE, *_ROOFLINE[1:]),
    ),
    Suite(
        "lookahead",
        "Predicting experts of the layers ahead",
        (replace(STOCK, rounds=1, repeats=1), *(_looking_ahead(distance) for distance in range(4)), STREAMED),
        (_lookahead_pays("4000MiB", 1.15), *(_never_costs(cache) for cache in CACHES)),
        ("decode_tok_s", "hit_rate", "late_rate", "read_mib", "missed_mib", "stall_ms"),
    ),
    Suite(
        "early-reads",
        "Which guesses are read early, and how many at a time",
        (replace(STOCK, rounds=1, repeats=1), STREAMED, *_OTHERS_EARLY),
        tuple(_as_good_as(arm) for arm in _OTHERS_EARLY),
        ("decode_tok_s", "hit_rate", "late_rate", "read_mib", "missed_mib", "stall_ms"),
        caches=("4000MiB",),
    ),
    Suite(
        "first-token",
        "From a cold start to the first token",
        (COLD,),
        (
            Claim("first_token_over_bound", _AT_4000, 1.2, direction="at most"),
            Claim("first_token_s", _AT_4000, 10.5, direction="at most"),
        ),
        ("program_s", "load_s", "first_token_s", "resident_gib", "prompt_read_gib", "read_ratio", *_BOUND),
        tokens=2,
        warm_tokens=0,
        caches=("4000MiB",),
    ),
    Suite(
        "warm-start",
        "The first token after 30 s without work",
        (replace(STREAMED, name="gannet each, empty cache"), WARMED),
        (Claim("first_token_s", _WARMED_4000, 2.5, direction="at most"),),
        ("load_s", "first_token_s", "prompt_read_gib", "prompt_distinct_gib", *_BOUND[:1], "decode_tok_s"),
        tokens=12,
        warm_tokens=0,
        caches=("4000MiB",),
    ),
    Suite(
        "prompt",
        "A prompt of 1,000 tokens",
        (COLD,),
        (Claim("read_ratio", _AT_4000, 1.05, direction="at most"),),
        _PROMPT,
        prompt_tokens=1000,
        tokens=12,
        warm_tokens=0,
        caches=("4000MiB",),
    ),
    Suite(
        "prefill",
        "A prompt of 2,000 tokens in one batch",
        (replace(STOCK, repeats=1, settings={"ubatch": 2048}), replace(COLD, settings={"ubatch": 2048})),
        (
            Claim("prompt_tok_s", _AT_4000, 0.8, STOCK.name),
            Claim("read_ratio", _AT_4000, 1.02, direction="at most"),
            Claim("first_over_tenth", _AT_4000, 1.5, direction="at most"),
        ),
        _PROMPT,
        prompt_tokens=2000,
        tokens=12,
        warm_tokens=0,
        caches=("4000MiB",),
    ),
    Suite(
        "memory",
        "Memory over 500 tokens",
        (STREAMED,),
        (
            Claim("peak_over_limit", _AT_4000, 1, direction="at most"),
            Claim("oom_kills", _AT_4000, 0, direction="at most"),
        ),
        ("first_token_s", "decode_tok_s", "hit_rate", "read_mib", "rss_gib", "peak_gib", "limit_gib", "oom_kills"),
        tokens=500,
        caches=("4000MiB",),
    ),
    Suite(
        "endurance",
        "Ten answers of 1,000 tokens in one process",
        (replace(STREAMED, rounds=1),),
        (
            Claim("speed_drift", _AT_4000, 0.03, direction="at most"),
            Claim("memory_drift", _AT_4000, 0.03, direction="at most"),
            Claim("oom_kills", _AT_4000, 0, direction="at most"),
        ),
        ("decode_tok_s", "speed_drift", "memory_drift", "rss_gib", "peak_gib", "oom_kills"),
        tokens=1000,
        repeats=10,
        caches=("4000MiB",),
    ),
    Suite(
        "long-answer",
        "One answer of 10,000 tokens in a context of 16,384",
        (replace(STREAMED, rounds=1, settings={"context_length": 16384}),),
        (
            Claim("block_memory_drift", _AT_4000, 0.03, direction="at most"),
            Claim("peak_over_limit", _AT_4000, 1, direction="at most"),
            Claim("oom_kills", _AT_4000, 0, direction="at most"),
        ),
        ("decode_tok_s", "block_speed_drift", "block_memory_drift", "rss_gib", "peak_gib", "oom_kills"),
        tokens=10000,
        blocks=10,
        caches=("4000MiB",),
    ),
)

SUITES: Mapping[str, Suite] = {suite.name: suite for suite in _ALL}
