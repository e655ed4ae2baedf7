"""What the tuner says to the outside: progress events while it runs, and one result at the end.

These are the only declarations of both. The command line prints them as JSON, the service forwards them as the
events "tune", the wizard draws them. Nothing here imports the engine, so a client can use the module as it is.

Units are in the names: `_bytes`, `_s` (seconds), `_ms`, `tok_s` (tokens per second), `bytes_s`. Ratios are
speeds divided by the speed of the default settings in the same minute: above 1 is faster than the defaults.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

RESULT_VERSION = 2
"""Raised when a field changes its meaning; a stored result of another version is treated as stale."""

Settings = dict[str, Any]
"""Engine settings by their names in `EngineSettings`; only those that differ from the tuning's base."""


class Record(BaseModel):
    """A frozen value; unknown fields of a later version are ignored when it is read back."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Interval(Record):
    """A figure measured several times: the middle, and where 95 % of repetitions would put it."""

    middle: float
    low: float
    high: float
    count: int = Field(description="number of measurements behind it")


class DrivePoint(Record):
    """Direct random reads of one size at one queue depth: one point of the wizard's drive chart."""

    read_bytes: int
    queue_depth: int
    bytes_s: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    direct: bool = Field(description="False: the page cache was in the way, the figure is an upper bound")


class ArmState(StrEnum):
    """Where an arm of the comparison stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DROPPED = "dropped"  # measured, and clearly not the best
    KEPT = "kept"  # measured to the end, not chosen
    CHOSEN = "chosen"
    SKIPPED = "skipped"  # there was no time to measure it
    CRASHED = "crashed"  # ended the engine or failed; `error` says how
    WRONG = "wrong"  # gave another answer than the defaults; never chosen


class Arm(Record):
    """One set of settings and all that was measured of it.

    `runs_tok_s` holds every run's decode speed in order, for the dot plot. `ratio` is None until the arm and the
    defaults have answered the same prompts.
    """

    name: str = Field(description='"defaults", or what differs from them in words: "16 I/O threads, lookahead 2"')
    settings: Settings = Field(default_factory=dict)
    default: bool = False
    state: ArmState = ArmState.WAITING
    runs_tok_s: tuple[float, ...] = ()
    decode_tok_s: Interval | None = None
    prompt_tok_s: float | None = Field(
        default=None, description="of a long prompt where whole turns were compared; of short ones for the defaults"
    )
    first_token_s: float | None = None
    ratio: Interval | None = None
    predicted_tok_s: float | None = Field(default=None, description="what the machine model expected, before measuring")
    hit_rate: float | None = None
    stall_ms_per_token: float | None = None
    read_bytes_per_token: float | None = None
    memory_bytes: int | None = Field(default=None, description="resident memory of the engine while it ran")
    identical: bool | None = Field(default=None, description="same tokens as the defaults; None: not compared yet")
    error: str | None = None


class Fingerprint(Record):
    """What a tuning is valid for. Two tunings are interchangeable when `machine`, `model` and `engine` are equal."""

    machine: dict[str, str]
    model: dict[str, str]
    engine: dict[str, str]
    digest: str = Field(description="SHA-256 over the three, hexadecimal")


class Preset(Record):
    """Settings with a name a person can choose by, derived from the same measurements."""

    key: str = Field(description='"balanced", "light", "fastest" or "long_context"')
    title: str
    summary: str = Field(description="one sentence, what it does and what it costs here, with figures")
    settings: Settings
    expected_tok_s: float | None
    memory_bytes: int | None
    measured: bool = Field(description="False: the speed is predicted by the machine model, not measured")


class Accuracy(Record):
    """How far the machine model's predictions were from the measured runs: |predicted - measured| / measured.

    Predicted is what follows from the defaults' answers: from the first of them, and moved by as much as the defaults
    themselves have become faster since. `arms` counts what was predicted so and measured (other settings, smaller
    caches). `uncalibrated_error` is that of the defaults, from the probes and the model's header alone. None: nothing
    to compare.
    """

    arms: int
    median_error: float | None
    worst_error: float | None
    uncalibrated_error: float | None = None


class TuneResult(Record):
    """The end of a tuning: what to use, why, and the evidence."""

    version: int = RESULT_VERSION
    chosen: Settings
    chosen_arm: str
    reason: str
    arms: tuple[Arm, ...]
    presets: tuple[Preset, ...] = ()
    drive: tuple[DrivePoint, ...] = ()
    accuracy: Accuracy | None = None
    roofline_tok_s: float | None = Field(default=None, description="1 / max(compute, reads) of the chosen arm")
    base: Settings = Field(default_factory=dict, description="all settings the tuning began with")
    fingerprint: Fingerprint
    engine_version: str
    model_path: str
    started: str = Field(description="ISO 8601, UTC")
    seconds: float
    budget_s: float
    cancelled: bool = False
    notes: tuple[str, ...] = ()


class Phase(StrEnum):
    """The wizard's steps, in their order."""

    PROBE = "probe"
    PLAN = "plan"
    MEASURE = "measure"
    CONFIRM = "confirm"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class TuneEvent(Record):
    """Progress: where the tuning is, one sentence, and the figure that has just been measured if there is one.

    `arms` is sent whole whenever one of them changes, so that a client that joins late draws the right picture from
    the last event that has them. `result` comes with DONE and CANCELLED, `error` with FAILED.
    """

    phase: Phase
    fraction: float = Field(ge=0, le=1, description="share of the whole tuning that is done")
    message: str
    elapsed_s: float
    remaining_s: float | None = None
    probe: str | None = Field(default=None, description="name of the probe that is running or has ended")
    value: str | None = Field(default=None, description="the probe's figure as text with its unit, when it has ended")
    drive: DrivePoint | None = None
    arms: tuple[Arm, ...] | None = None
    result: TuneResult | None = None
    error: str | None = None
