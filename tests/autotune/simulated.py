"""A simulated machine for the tuner: time is a number, runs scatter, arms crash or lie when told to."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.probes import Probe, Reading
from autotune.probes.compute import ComputeResult
from autotune.probes.cores import CoresResult
from autotune.probes.drive import DriveResult
from autotune.replies import Census, Loaded, Prepared, Run, Turned
from autotune.result import DrivePoint

Speed = Callable[[Mapping[str, Any]], float]


@dataclass
class SimulatedBench:
    """`token_s` gives seconds per token for settings, half of them waited; each token reads `read_bytes`.

    `fault` may raise for settings, or return other tokens.
    """

    token_s: Speed
    noise: float = 0.03
    prompts: int = 3
    cache_bytes: int = 4 << 30
    load_s: float = 1.0
    prompt_s: float = 3.0
    read_bytes: float = 2e8
    fault: Callable[[Mapping[str, Any]], tuple[int, ...] | None] = lambda _settings: None
    now: float = 0.0
    closed: bool = False
    loads: list[Mapping[str, Any]] = field(default_factory=list)
    runs: list[Mapping[str, Any]] = field(default_factory=list)
    turns: list[Mapping[str, Any]] = field(default_factory=list)
    turn_prompt_s: Callable[[Mapping[str, Any], int], float] = lambda _settings, tokens: 0.03 * tokens
    draw: random.Random = field(default_factory=lambda: random.Random(1))

    def clock(self) -> float:
        return self.now

    def load(self, path: Path, settings: Mapping[str, Any], control: Control) -> Loaded:
        control.check()
        self.now += self.load_s
        self.loads.append(settings)
        return Loaded(self.load_s, True, self.cache_bytes, 1 << 30, 4096, 6 << 30, ())

    def prepare(self, settings: Mapping[str, Any], limit_s: float, control: Control) -> Prepared:
        control.check()
        self.now += self.prompt_s * self.prompts
        return Prepared(self.prompts, False, 4.0)

    def run(self, settings: Mapping[str, Any], prompt: int, tokens: int, limit_s: float, control: Control) -> Run:
        control.check()
        self.runs.append(settings)
        other = self.fault(settings)
        seconds: list[float] = []
        factor = math.exp(self.draw.gauss(0, self.noise))
        for _ in range(tokens):
            took = self.token_s(settings) * (1 + 0.3 * prompt) * factor
            if sum(seconds) + took > limit_s:
                break
            seconds.append(took)
        self.now += sum(seconds) + 0.2
        ids = other or tuple(range(100 * prompt, 100 * prompt + len(seconds) + 1))
        stall = 1e3 * self.token_s(settings) / 2
        return Run(ids, tuple(seconds), 0.1, 0.8, stall, self.read_bytes, self.cache_bytes, 6 << 30, 0.0)

    def turn(
        self, path: Path, settings: Mapping[str, Any], prompt_tokens: int, tokens: int, limit_s: float, control: Control
    ) -> Turned:
        control.check()
        self.turns.append(settings)
        other = self.fault(settings)
        noise = math.exp(self.draw.gauss(0, self.noise))
        seconds = self.turn_prompt_s(settings, prompt_tokens) * noise
        token_s = self.token_s(settings) * noise
        done = seconds < limit_s
        self.now += self.load_s + min(limit_s, seconds + token_s * tokens)
        ids = other or (tuple(range(tokens + 1)) if done else ())
        memory = self.cache_bytes, 6 << 30
        return Turned(ids, (token_s,) * tokens if done else (), prompt_tokens / seconds if done else 0.0, 1.0, *memory)

    def census(self, control: Control) -> Census:
        return Census(((900, 50, 30, 20),) * 2)

    def close(self) -> None:
        self.closed = True


def drive_points(bytes_s: Mapping[int, float], size: int = 884736) -> tuple[DrivePoint, ...]:
    return tuple(
        DrivePoint(read_bytes=size, queue_depth=d, bytes_s=r, p50_ms=1, p95_ms=2, p99_ms=3, direct=True)
        for d, r in bytes_s.items()
    )


FAST_DRIVE = drive_points({1: 1.6e9, 2: 2.0e9, 4: 2.1e9, 8: 2.1e9, 16: 2.0e9, 32: 1.9e9})
SLOW_DRIVE = drive_points({1: 0.2e9, 2: 0.35e9, 4: 0.4e9, 8: 0.4e9, 16: 0.4e9, 32: 0.4e9})


def probes_of(
    bench: SimulatedBench,
    drive: tuple[DrivePoint, ...] = FAST_DRIVE,
    compute: tuple[tuple[int, float], ...] = ((1, 0.2), (2, 0.11)),
    cores: int = 2,
) -> Callable[..., dict[str, Reading[Any]]]:
    """A stand-in for `run_probes`: takes simulated time and gives these figures."""

    def run(
        facts: ModelFacts, control: Control, progress: Callable[[Probe[Any], Reading[Any] | None, float], None]
    ) -> dict[str, Reading[Any]]:
        for point in drive:
            control.check()
            bench.now += 1.0 * control.scale
            control.report("drive", point)
        processor = CoresResult("simulated", cores, cores, cores, cores, cores, 0, False, None, 0.0, ())
        results = {
            "drive": DriveResult(drive, None, True),
            "compute": ComputeResult((), compute),
            "cores": processor,
        }
        return {name: Reading(name, "", "", 1.0, value, "figure") for name, value in results.items()}

    return run
