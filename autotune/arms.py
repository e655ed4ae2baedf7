"""What is known of every arm: its runs, whether its answers agree, and its public record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from autotune.replies import Run, Turned
from autotune.result import Accuracy, Arm, ArmState, Interval
from autotune.statistics import speed_interval


@dataclass
class ArmRecord:
    """An arm while the tuning runs; `public` is what leaves the tuner."""

    name: str
    changes: Mapping[str, Any]
    default: bool
    predicted_tok_s: float | None
    state: ArmState = ArmState.WAITING
    runs: list[Run] = field(default_factory=list)
    ratio: Interval | None = None
    identical: bool | None = None
    error: str | None = None
    failures: int = 0
    turns: list[Turned] = field(default_factory=list)

    def add(self, run: Run) -> None:
        """Note a run."""
        self.runs.append(run)

    def speeds(self) -> tuple[float, ...]:
        """Tokens per second of each run, or of each whole turn where those are what is compared."""
        measured = [r.seconds for r in self.runs] + [t.seconds for t in self.turns]
        return tuple(len(seconds) / sum(seconds) for seconds in measured if seconds and sum(seconds) > 0)

    def stall_ms(self) -> float | None:
        """Milliseconds per token spent waiting for the drive."""
        return fmean(r.stall_ms_per_token for r in self.runs) if self.runs else None

    def read_bytes(self) -> float | None:
        """Bytes read per token."""
        return fmean(r.read_bytes_per_token for r in self.runs) if self.runs else None

    def public(self) -> Arm:
        """The record as it is shown."""
        hits = [r.hit_rate for r in self.runs if r.hit_rate is not None]
        return Arm(
            name=self.name,
            settings=dict(self.changes),
            default=self.default,
            state=self.state,
            runs_tok_s=self.speeds(),
            decode_tok_s=speed_interval(self.speeds()),
            prompt_tok_s=median(t.prompt_tok_s for t in self.turns) if self.turns else None,
            first_token_s=median(r.first_token_s for r in self.runs) if self.runs else None,
            ratio=self.ratio,
            predicted_tok_s=self.predicted_tok_s,
            hit_rate=fmean(hits) if hits else None,
            stall_ms_per_token=self.stall_ms(),
            read_bytes_per_token=self.read_bytes(),
            memory_bytes=max([r.memory_bytes for r in self.runs] + [t.memory_bytes for t in self.turns], default=None),
            identical=self.identical,
            error=self.error,
        )


@dataclass
class Answers:
    """The defaults' answer to every prompt, as far as it has been computed."""

    reference: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def learn(self, prompt: int, tokens: Sequence[int]) -> None:
        """Keep the longest answer of the defaults."""
        if len(tokens) > len(self.reference.get(prompt, ())):
            self.reference[prompt] = tuple(tokens)

    def agree(self, prompt: int, tokens: Sequence[int]) -> bool:
        """Whether an answer is the same as the defaults' on all tokens that both have."""
        known = self.reference.get(prompt, ())
        n = min(len(known), len(tokens))
        return tuple(tokens[:n]) == known[:n]


def accuracy(
    arms: Sequence[ArmRecord], baseline_tok_s: float, others: Sequence[tuple[float, float]] = ()
) -> Accuracy | None:
    """How far the machine model's guesses were from what was measured; None without anything measured.

    The defaults' guess comes from probes and header alone, and is told apart. All others follow from the defaults'
    answers: guessed after the first of them (`baseline_tok_s`), and moved by as much as the defaults themselves have
    become faster or slower since (the cache goes on learning, the drive has its moods). `others`: further (guessed,
    measured) tokens per second.
    """
    first: list[float] = []
    later = [_error(guess, measured) for guess, measured in others]
    known = [(arm, found.middle) for arm in arms if (found := speed_interval(arm.speeds())) is not None]
    since = next((speed for arm, speed in known if arm.default), baseline_tok_s) / baseline_tok_s
    for arm, speed in known:
        if arm.predicted_tok_s is not None:
            guess = arm.predicted_tok_s * (1.0 if arm.default else since)
            (first if arm.default else later).append(_error(guess, speed))
    if not first and not later:
        return None
    return Accuracy(
        arms=len(later),
        median_error=median(later) if later else None,
        worst_error=max(later) if later else None,
        uncalibrated_error=first[0] if first else None,
    )


def _error(guess: float, measured: float) -> float:
    return abs(guess - measured) / measured
