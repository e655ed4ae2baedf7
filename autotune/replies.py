"""What the worker replies, one record for each request; the wire form is these fields as JSON."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Loaded:
    """Reply to `load`. Bytes, seconds."""

    load_s: float
    streaming: bool
    cache_bytes: int
    resident_bytes: int
    context_length: int
    memory_bytes: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Prepared:
    """Reply to `prepare`: how many prompts were computed in time, and how fast."""

    prompts: int
    shortened: bool
    prompt_tok_s: float


@dataclass(frozen=True)
class Run:
    """Reply to `run` and `go_on`. `seconds` of each token after the first, `tokens` with the first.

    `load_s`: time of a new load that the settings needed, 0 where they are live.
    """

    tokens: tuple[int, ...]
    seconds: tuple[float, ...]
    first_token_s: float
    hit_rate: float | None
    stall_ms_per_token: float
    read_bytes_per_token: float
    cache_bytes: int
    memory_bytes: int
    load_s: float


@dataclass(frozen=True)
class Turned:
    """Reply to `turn`: a load, a long prompt and an answer, with nothing in the cache at the beginning.

    `prompt_tok_s` counts whole batches only; 0 if not one was finished in time. `seconds`: each token after the first.
    """

    tokens: tuple[int, ...]
    seconds: tuple[float, ...]
    prompt_tok_s: float
    load_s: float
    cache_bytes: int
    memory_bytes: int


@dataclass(frozen=True)
class Census:
    """Reply to `census`: how often each expert was used since the load, by layer."""

    uses: tuple[tuple[int, ...], ...]
