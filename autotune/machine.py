"""The model of the machine: what a setting would do, from what the probes measured and the model's header. Pure.

A token computes and reads at once (`autotune.overlap`). Reading takes the missed bytes at the rate the drive gives at
the queue depth that the settings keep up; no engine can be faster than the longer of the two alone, the roofline.
`tests/autotune/test_machine_measured.py` holds the model against what was measured on two machines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autotune.facts import ModelFacts
from autotune.hits import HitCurve
from autotune.overlap import eagerness, joined, lost_seconds, other_part, predicting
from autotune.probes.drive import interpolate
from autotune.result import DrivePoint

_PARTS = 3.0
"""Projections of an expert, each a read of its own."""
_EARLY_READS = 2
"""Guesses are started while fewer reads than this are going on (the default of `prefetch_depth`)."""
_TRUST = 2.0
"""A run says roughly how fast the drive was during it; more than this factor from the probe's rate is not believed."""
_LEAST_MISSED = 0.001
"""Of a token's bytes: a run that read nothing says that little is missed, not that any cache would do."""
_LEAST_ALONE = 0.5
"""Of the time that a token is computed, what it would take at least without reading beside it."""
_ROUNDS = 4
_MOST_READING = 0.98
"""Of a token's time, what reading can take at most."""

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
    """Seconds per token: in all, computing alone, reading alone at the drive's best, waiting for reads.

    `hit_rate` 0 to 1; `read_bytes` with those for wrong guesses.
    """

    seconds: float
    compute_seconds: float
    read_seconds: float
    stall_seconds: float
    hit_rate: float
    read_bytes: float

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
class Observed:
    """A measured run, per token: seconds in all, seconds of them that computing waited for the drive, bytes read."""

    token_s: float
    stall_s: float
    read_bytes: float


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
        hit_rate, compute = self.hit_rate(at), self.compute_seconds(at.threads)
        missed = (1.0 - hit_rate) * self.facts.token_bytes
        if missed <= 0:
            return Expected(compute, compute, 0.0, 0.0, hit_rate, 0.0)
        reading = missed / self.drive_bytes_s(self.queue_depth(at, hit_rate))
        wasted = working = 0.0
        for _ in range(_ROUNDS):  # the longer a token takes, the more time the drive has for guesses
            working = compute * (1.0 + predicting(at.lookahead)) + lost_seconds(at.lookahead, missed, wasted)
            seconds = joined(working, reading, at.lookahead)
            wasted = self.wasted_bytes(at, hit_rate, 1.0 - reading / seconds)
        fastest = missed / max((rate for _, rate in self.drive), default=self.drive_bytes_s(1))
        return Expected(seconds, compute, fastest, seconds - working, hit_rate, missed + wasted)

    def hit_rate(self, at: Operating) -> float:
        """Share of look-ups that find their expert in memory."""
        if not self.facts.streamed or not self.facts.experts_bytes:
            return 1.0
        return self.hits.at(at.cache_bytes / self.facts.experts_bytes)

    def wasted_bytes(self, at: Operating, hit_rate: float, idle: float) -> float:
        """Bytes per token read for wrong guesses, where the drive idles for this share of the time."""
        return eagerness(at.lookahead, idle) * hit_rate * (1.0 - hit_rate) * self.facts.token_bytes

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
        """Reads in flight on average while there are any, at most one for each read thread.

        What a layer misses is asked for at once: n reads that end one after the other are (n + 1) / 2 on average.
        """
        missing = (1.0 - hit_rate) * self.facts.n_used * _PARTS
        early = _EARLY_READS if at.lookahead > 0 else 1
        return min(float(at.io_threads), max(early, (missing + 1.0) / 2))

    def drive_bytes_s(self, depth: float) -> float:
        """Bytes per second at a queue depth."""
        return max(1.0, interpolate([(float(d), r) for d, r in self.drive], depth)) if self.drive else 1e9

    def calibrated(self, at: Operating, seen: Observed) -> MachineModel:
        """Agreeing with a measured run under `at`: hit rate, rate of the drive, computing.

        How long the drive must have worked follows from how long computing waited for it; the hit rate from the bytes
        read (not from the counted one, which includes what was read early and was read all the same). A run as the
        model expects it changes nothing.
        """
        facts, share = self.facts, at.cache_bytes / max(1, self.facts.experts_bytes)
        if not facts.streamed or not 0 < share < 1:
            return self._computing(at, seen.token_s)
        reading = other_part(seen.token_s, seen.token_s - seen.stall_s, at.lookahead)
        missed = self._missed(at, seen.read_bytes, 1.0 - reading / seen.token_s)
        hit_rate = 1.0 - missed / facts.token_bytes
        probed = missed / self.drive_bytes_s(self.queue_depth(at, hit_rate))
        reading = min(max(reading, probed / _TRUST), probed * _TRUST, _MOST_READING * seen.token_s)
        wasted = self.wasted_bytes(at, hit_rate, 1.0 - reading / seen.token_s)
        working = other_part(seen.token_s, reading, at.lookahead)
        drive = tuple((depth, rate * probed / reading) for depth, rate in self.drive)
        model = replace(self, hits=self.hits.through(share, hit_rate), drive=drive)
        undisturbed = max(working - lost_seconds(at.lookahead, missed, wasted), _LEAST_ALONE * working)
        return model._computing(at, undisturbed / (1.0 + predicting(at.lookahead)))

    def _missed(self, at: Operating, read_bytes: float, idle: float) -> float:
        """Bytes per token that were needed, of those that were read.

        With r read and m missed, as shares of what a token uses, and guesses of eagerness c: r = m + c m (1 - m).
        """
        read = min(1.0, max(read_bytes / self.facts.token_bytes, _LEAST_MISSED))
        eager, missed = eagerness(at.lookahead, idle), read
        if eager > 0:
            missed = (1.0 + eager - math.sqrt((1.0 + eager) ** 2 - 4.0 * eager * read)) / (2.0 * eager)
        return missed * self.facts.token_bytes

    def _computing(self, at: Operating, alone_s: float) -> MachineModel:
        """With computing made slower or faster by one factor, so that under `at` it takes so long alone."""
        factor = alone_s / self.compute_seconds(at.threads)
        return replace(self, compute=tuple((n, s * factor) for n, s in self.compute))


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
