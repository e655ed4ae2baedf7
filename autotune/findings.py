"""What the probes found out about the machine, and what follows from it for one model before that is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.fingerprint import machine_parts
from autotune.machine import MachineModel, machine_model
from autotune.probes import Probe, Reading
from autotune.probes.gpu import GpuDevice
from autotune.result import DrivePoint
from engine.processors import available_cores

ProbeRunner = Callable[..., dict[str, Reading[Any]]]
ProbeProgress = Callable[[Probe[Any], Reading[Any] | None, float], None]


@dataclass
class Findings:
    """`points`: the drive's, as they are measured. `notes`: a line for each thing that could not be found out."""

    facts: ModelFacts
    readings: Mapping[str, Reading[Any]] = field(default_factory=dict)
    points: list[DrivePoint] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def probe(self, run: ProbeRunner, control: Control, progress: ProbeProgress) -> None:
        """Run the probes."""
        self.readings = run(self.facts, control, progress)
        for reading in self.readings.values():
            self.note(reading.notes)

    def note(self, lines: Iterable[str]) -> None:
        """Keep notes, each once."""
        self.notes += [line for line in lines if line not in self.notes]

    def found(self, name: str) -> Any:
        """A probe's result; None if it has none."""
        reading = self.readings.get(name)
        return reading.result if reading is not None else None

    @property
    def drive(self) -> tuple[DrivePoint, ...]:
        """What is known of the drive, also of a probe that was ended before its time."""
        found = self.found("drive")
        return tuple(found.points if found else self.points)

    @property
    def devices(self) -> Sequence[GpuDevice]:
        """Graphics cards."""
        gpus = self.found("gpu")
        return gpus.devices if gpus else ()

    @property
    def best_threads(self) -> int | None:
        """How many threads computed fastest; None: not measured."""
        compute = self.found("compute")
        return compute.best_threads if compute else None

    def model(self) -> MachineModel:
        """The model of this machine for this model."""
        compute, bandwidth, cores = self.found("compute"), self.found("bandwidth"), self.found("cores")
        return machine_model(
            self.facts,
            compute.token_seconds if compute else None,
            self.drive,
            cores.usable_cores if cores else available_cores(),
            bandwidth.best_bytes_s if bandwidth else None,
        )

    def machine_parts(self) -> dict[str, str]:
        """What identifies the machine."""
        return machine_parts(self.found("memory"), self.found("cores"), self.found("gpu"), self.found("volume"))
