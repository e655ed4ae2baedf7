"""The model of the machine: what a setting would do, from what the probes measured and the model's header. Pure.

A token's time has two parts that overlap: computing (experts and the always-used weights) and reading the experts
that are not in memory. Reading takes the missed bytes, and the bytes read for wrong guesses, at the rate the drive
gives at the queue depth that the settings keep up. How much of the shorter part hides behind the longer depends on
how early reads begin. No engine can be faster than the longer of the two alone: the roofline.

The constants below are measured (design of the engine: recall and hit rates on the synthetic 30B-A3B, which lie
inside what is published for trained models); a tuning replaces the hit rate by the one it measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autotune.facts import ModelFacts
from autotune.probes.drive import interpolate
from autotune.result import DrivePoint

_HITS = ((0.0, 0.0), (0.03, 0.15), (0.06, 0.28), (0.12, 0.45), (0.25, 0.78), (0.5, 0.95), (0.75, 0.99), (1.0, 1.0))
"""(share of the experts in memory, share of look-ups found there) of a cache with aged use counts or LRU."""
_EARLY = (0.35, 0.80, 0.88, 0.90, 0.90)
"""By lookahead: how much of the shorter of computing and reading is hidden behind the longer."""
_WASTE = (1.00, 1.12, 1.28, 1.42, 1.55)
"""By lookahead: bytes read over bytes needed."""
_IN_FLIGHT = (0.6, 1.0, 1.15, 1.25, 1.3)
"""By lookahead: share of the read threads that are busy while there is something to read, above the demand."""

_BATCHED = 0.3
"""Computing a prompt's token in a large batch over computing a token alone (measured: 27 ms over 90 ms)."""
USUAL_PROMPT, USUAL_ANSWER = 512, 128
"""Tokens of a turn of a conversation, where settings are compared that trade one against the other."""

DISTURBED = 0.1
"""A queue depth at which the drive gave less than this share of its best was measured while the machine stood still."""


@dataclass(frozen=True)
class Operating:
    """The settings that decide a token's time. `cache_bytes` is the size of the expert cache in effect."""

    threads: int
    io_threads: int
    lookahead: int
    cache_bytes: int


@dataclass(frozen=True)
class Expected:
    """Seconds per token: in all, computing alone, reading alone. `hit_rate` 0 to 1."""

    seconds: float
    compute_seconds: float
    read_seconds: float
    hit_rate: float

    @property
    def tok_s(self) -> float:
        """Tokens per second."""
        return 1.0 / self.seconds if self.seconds > 0 else 0.0

    @property
    def roofline_tok_s(self) -> float:
        """What no engine can beat here: the longer part alone."""
        longest = max(self.compute_seconds, self.read_seconds)
        return 1.0 / longest if longest > 0 else 0.0


@dataclass(frozen=True)
class HitCurve:
    """Share of look-ups that find their expert, by the share of experts in memory; rising from 0 to 1."""

    points: tuple[tuple[float, float], ...] = _HITS

    def at(self, share: float) -> float:
        """Hit rate at a share of experts in memory."""
        return interpolate(self.points, min(1.0, max(0.0, share)))

    def through(self, share: float, hit_rate: float) -> HitCurve:
        """The same shape, with misses scaled so that the curve passes through a measured point."""
        expected = 1.0 - self.at(share)
        if expected <= 0 or not 0 < share < 1:
            return self
        factor = (1.0 - hit_rate) / expected
        points = tuple((s, 1.0 - min(1.0, (1.0 - h) * factor) if s < 1 else 1.0) for s, h in self.points if s > 0)
        return HitCurve(((0.0, 0.0), *points))

    @staticmethod
    def from_uses(uses: Sequence[Sequence[int]]) -> HitCurve:
        """From a census (uses by layer and expert): what the most used experts of each layer alone would find."""
        curve = [(0.0, 0.0)]
        rows = [sorted(row, reverse=True) for row in uses if sum(row) > 0]
        total = sum(sum(row) for row in rows)
        if not total:
            return HitCurve()
        for tenth in range(1, 20):
            share = tenth / 20
            curve.append((share, sum(sum(row[: round(share * len(row))]) for row in rows) / total))
        return HitCurve((*curve, (1.0, 1.0)))


@dataclass(frozen=True)
class MachineModel:
    """`compute` is (threads, seconds per token of computing all), `drive` (queue depth, bytes per second).

    `cores` is how many can really work at once: threads beyond are in each other's way.
    """

    facts: ModelFacts
    compute: tuple[tuple[int, float], ...]
    drive: tuple[tuple[int, float], ...]
    cores: int
    hits: HitCurve = HitCurve()

    def expect(self, at: Operating) -> Expected:
        """Time per token under these settings."""
        facts, ahead = self.facts, min(at.lookahead, len(_EARLY) - 1)
        share = at.cache_bytes / facts.experts_bytes if facts.experts_bytes else 1.0
        hit_rate = self.hits.at(share) if facts.streamed else 1.0
        compute = self.compute_seconds(at.threads)
        missed = (1.0 - hit_rate) * facts.token_bytes
        read = missed * _WASTE[ahead] / self.drive_bytes_s(self.queue_depth(at, hit_rate)) if missed > 0 else 0.0
        seconds = compute + read - _EARLY[ahead] * min(compute, read)
        return Expected(seconds, compute, missed / self.drive_bytes_s(32) if missed > 0 else 0.0, hit_rate)

    def prompt_seconds(self, tokens: int, ubatch: int, at: Operating) -> float:
        """Seconds to compute a prompt: every step of `ubatch` tokens reads the experts that its tokens use."""
        facts = self.facts
        compute = tokens * _BATCHED * self.compute_seconds(at.threads)
        if not facts.streamed or tokens < 1:
            return compute
        used = 1.0 - (1.0 - facts.n_used / max(facts.n_used, facts.n_expert)) ** min(tokens, ubatch)
        missing = max(0.0, 1.0 - at.cache_bytes / max(1, facts.experts_bytes))
        read = math.ceil(tokens / ubatch) * used * missing * facts.experts_bytes / self.drive_bytes_s(at.io_threads)
        return max(compute, read) + 0.5 * min(compute, read)

    def turn_seconds(self, at: Operating, ubatch: int, prompt_tokens: int = USUAL_PROMPT) -> float:
        """Seconds of a usual turn: a prompt, and its share of an answer."""
        answer = USUAL_ANSWER * prompt_tokens / USUAL_PROMPT
        return self.prompt_seconds(prompt_tokens, ubatch, at) + answer * self.expect(at).seconds

    def compute_seconds(self, threads: int) -> float:
        """Seconds per token of computing with so many threads."""
        measured = dict(self.compute)
        if threads in measured:
            return measured[threads]
        most = max(measured)
        if threads > most:  # more threads than processors: they wait for each other in turn
            return measured[most] * (threads / max(1, self.cores)) * 2
        return interpolate([(float(n), s) for n, s in sorted(self.compute)], threads)

    def queue_depth(self, at: Operating, hit_rate: float) -> float:
        """Reads in flight on average: what a layer misses, at most what the read threads can hold."""
        parts = 3.0  # projections, each a read of its own
        missing = (1.0 - hit_rate) * self.facts.n_used * parts
        return max(1.0, min(float(at.io_threads), missing * _IN_FLIGHT[min(at.lookahead, len(_IN_FLIGHT) - 1)]))

    def drive_bytes_s(self, depth: float) -> float:
        """Bytes per second at a queue depth."""
        return max(1.0, interpolate([(float(d), r) for d, r in self.drive], depth)) if self.drive else 1e9

    def calibrated(self, at: Operating, read_bytes_per_token: float | None, token_s: float | None) -> MachineModel:
        """Agreeing with a measured run under `at` (None: not known).

        The hit rate follows from the bytes read (not from the counted rate, which includes what was read early and was
        read all the same); what then differs from the measured time is put down to computing, of which the probe
        sees the experts' part only.
        """
        facts, ahead, model = self.facts, min(at.lookahead, len(_WASTE) - 1), self
        if read_bytes_per_token is not None and facts.token_bytes and facts.experts_bytes:
            hit_rate = max(0.0, 1.0 - read_bytes_per_token / (facts.token_bytes * _WASTE[ahead]))
            model = replace(model, hits=model.hits.through(at.cache_bytes / facts.experts_bytes, hit_rate))
        return model if token_s is None else model._computing(at, token_s)

    def _computing(self, at: Operating, token_s: float) -> MachineModel:
        """With computing made slower or faster by one factor, so that `at` is expected to take `token_s`."""
        low, high = 0.2, 10.0
        for _ in range(30):
            factor = (low * high) ** 0.5
            scaled = replace(self, compute=tuple((n, s * factor) for n, s in self.compute))
            low, high = (factor, high) if scaled.expect(at).seconds < token_s else (low, factor)
        return scaled


def machine_model(
    facts: ModelFacts,
    expert_seconds: Sequence[tuple[int, float]] | None,
    drive: Sequence[DrivePoint],
    cores: int,
    memory_bytes_s: float | None,
) -> MachineModel:
    """Put a model together from what could be measured; what could not is estimated from the memory's bandwidth.

    `expert_seconds`: (threads, seconds of one token's expert products). The always-used weights are taken to be gone
    through at the same rate as the experts.
    """
    if expert_seconds and facts.token_bytes:
        scale = 1.0 + always_bytes(facts) / facts.token_bytes
        compute = tuple((n, s * scale) for n, s in expert_seconds)
    else:
        rate = memory_bytes_s or 10e9
        compute = ((cores, (facts.token_bytes + always_bytes(facts)) / rate),)
    size = drive[0].read_bytes if drive else 0
    least = DISTURBED * max((p.bytes_s for p in drive), default=0.0)
    curve = tuple(sorted((p.queue_depth, p.bytes_s) for p in drive if p.read_bytes == size and p.bytes_s > least))
    return MachineModel(facts, compute, curve, max(1, cores))


def always_bytes(facts: ModelFacts) -> int:
    """Bytes of always-used weights that one token goes through: all but the embeddings, of which it needs a row."""
    return max(0, facts.dense_bytes - facts.embedding_bytes)
