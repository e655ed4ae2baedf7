"""What a running tuning has said so far, for the wizard to draw. Pure.

The events are the tuner's own (`autotune/result.py` declares them: TuneEvent, Arm, DrivePoint, TuneResult); they arrive
as JSON over the engine's event stream. Fields that are missing or odd are left out, never an error: the tuner may be
newer than the window.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ENDED = frozenset({"done", "cancelled", "failed"})


@dataclass(frozen=True)
class DriveDot:
    """One point of the drive chart: bytes/s at a queue depth, for reads of one size in bytes."""

    read_bytes: int
    queue_depth: int
    bytes_s: float


@dataclass(frozen=True)
class ArmRow:
    """One candidate: its measured runs in tokens/s and what became of it.

    Attributes: `middle`, `low`, `high` are the interval of its speed, NaN before it is known; `state` is the tuner's
    word (waiting, running, dropped, kept, chosen, crashed, wrong); `error` says why for the last two.
    """

    name: str
    default: bool
    state: str
    runs: tuple[float, ...]
    middle: float
    low: float
    high: float
    error: str

    @property
    def measured(self) -> bool:
        """Whether there is a speed to draw."""
        return bool(self.runs) or not math.isnan(self.middle)


@dataclass
class TuneProgress:
    """The state of the wizard, fed with events.

    Attributes:
        phase: the tuner's word; "" before the first event.
        fraction: share done, 0..1. `message`: one sentence. `remaining_s`: None while unknown.
        measured: (probe, figure) lines, in the order they came.
        drive: points of the drive chart. `arms`: candidates, as last sent.
        result: the end, as the tuner sent it. `error`: why it failed.
    """

    phase: str = ""
    fraction: float = 0.0
    message: str = ""
    remaining_s: float | None = None
    probe: str = ""
    measured: list[tuple[str, str]] = field(default_factory=list)
    drive: list[DriveDot] = field(default_factory=list)
    arms: tuple[ArmRow, ...] = ()
    result: Mapping[str, Any] | None = None
    error: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.phase in ENDED

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one event."""
        self.phase = str(event.get("phase") or self.phase)
        self.fraction = min(1.0, max(self.fraction, _number(event.get("fraction"), self.fraction)))
        self.message = str(event.get("message") or self.message)
        remaining = _number(event.get("remaining_s"))
        self.remaining_s = None if math.isnan(remaining) else remaining
        self.probe = str(event.get("probe") or "")
        if self.probe and event.get("value"):
            self.measured.append((self.probe, str(event["value"])))
        self._take_drive([event.get("drive")])
        if isinstance(event.get("arms"), list):
            self.arms = _arms(event["arms"])
        self.error = str(event.get("error") or self.error)
        if isinstance(event.get("result"), Mapping):
            self.take_result(event["result"])

    def take_result(self, result: Mapping[str, Any]) -> None:
        """The end: its own arms and drive points are the complete ones."""
        self.result = result
        if result.get("arms"):
            self.arms = _arms(result["arms"])
        if result.get("drive"):
            self.drive = []
            self._take_drive(result["drive"])

    def _take_drive(self, points: Iterable[Any]) -> None:
        for point in points:
            if isinstance(point, Mapping):
                depth, rate = _number(point.get("queue_depth")), _number(point.get("bytes_s"))
                size = _number(point.get("read_bytes"), 0.0)
                if depth >= 1 and rate > 0:
                    self.drive.append(DriveDot(int(size), int(depth), rate))


def chosen_arm(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arm that won; empty when the result names none."""
    name = result.get("chosen_arm")
    found = next(
        (arm for arm in result.get("arms") or () if isinstance(arm, Mapping) and arm.get("name") == name), None
    )
    return found or {}


def gain(result: Mapping[str, Any]) -> float:
    """How much faster the chosen settings are than the defaults (1.0: the same)."""
    ratio = chosen_arm(result).get("ratio")
    middle = _number(ratio.get("middle")) if isinstance(ratio, Mapping) else math.nan
    return 1.0 if math.isnan(middle) else middle


def to_keep(result: Mapping[str, Any], cache_bytes: int) -> dict[str, Any]:
    """What the preset store keeps of a result: settings by preset, and the measurement that estimates use.

    `cache_bytes` is the cache the model ran with, for results whose settings leave it automatic.
    """
    presets = {
        str(one["key"]): dict(one["settings"])
        for one in result.get("presets") or ()
        if isinstance(one, Mapping) and isinstance(one.get("settings"), Mapping) and one.get("key")
    }
    chosen = result.get("chosen")
    chosen = dict(chosen) if isinstance(chosen, Mapping) else {}
    presets.setdefault("balanced", chosen)
    arm = chosen_arm(result)
    speed = arm.get("decode_tok_s")
    kept: dict[str, Any] = {"presets": presets, "cache_bytes": int(chosen.get("cache_bytes") or cache_bytes)}
    if isinstance(speed, Mapping) and not math.isnan(_number(speed.get("middle"))):
        kept["tokens_per_s"] = _number(speed.get("middle"))
    if not math.isnan(_number(arm.get("hit_rate"))):
        kept["hit_rate"] = _number(arm.get("hit_rate"))
    rates = [_number(one.get("bytes_s"), 0.0) for one in result.get("drive") or () if isinstance(one, Mapping)]
    if rates:
        kept["drive_rate"] = max(rates)
    fingerprint = result.get("fingerprint")
    if isinstance(fingerprint, Mapping):
        kept["fingerprint"] = str(fingerprint.get("digest", ""))
    return kept


def _arms(items: Iterable[Any]) -> tuple[ArmRow, ...]:
    return tuple(_arm(item) for item in items if isinstance(item, Mapping) and item.get("name"))


def _arm(item: Mapping[str, Any]) -> ArmRow:
    speed = item.get("decode_tok_s")
    speed = speed if isinstance(speed, Mapping) else {}
    runs = tuple(_number(run) for run in item.get("runs_tok_s") or ())
    return ArmRow(
        name=str(item["name"]),
        default=item.get("default") is True,
        state=str(item.get("state") or "waiting"),
        runs=tuple(run for run in runs if not math.isnan(run)),
        middle=_number(speed.get("middle")),
        low=_number(speed.get("low")),
        high=_number(speed.get("high")),
        error=str(item.get("error") or ""),
    )


def _number(value: Any, otherwise: float = math.nan) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else otherwise
