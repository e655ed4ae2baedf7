"""What a probe is: a name, a unit, a method in one sentence, bounds, and a function with one frozen result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from autotune.control import CancelledError, Control
from autotune.facts import ModelFacts

Result = TypeVar("Result")


@dataclass(frozen=True)
class Probe(Generic[Result]):
    """A declared measurement. Bounds are promises: `seconds` at scale 1, `memory_bytes` above the process's own.

    `run` gets the model's facts (None: no model named) and a control; it checks the control at least every 0.5 s,
    writes nowhere, and puts what it could not find out into the result's `notes` instead of failing.
    `figure` says the result in a few words with its unit, for a person.
    """

    name: str
    title: str
    unit: str
    method: str
    seconds: float
    memory_bytes: int
    needs_model: bool
    run: Callable[[ModelFacts | None, Control], Result]
    figure: Callable[[Result], str]


@dataclass(frozen=True)
class Reading(Generic[Result]):
    """A probe that was run: its result, or why there is none."""

    name: str
    unit: str
    method: str
    seconds: float
    result: Result | None
    figure: str
    notes: tuple[str, ...] = field(default=())


def read(probe: Probe[Result], facts: ModelFacts | None, control: Control) -> Reading[Result]:
    """Run one probe inside its bounds. Cancelling passes through; any other failure becomes a note."""
    start = control.clock()
    result: Result | None = None
    notes: tuple[str, ...] = ()
    if probe.needs_model and facts is None:
        notes = ("needs a model: name one to measure this",)
    else:
        try:
            result = probe.run(facts, control)
            notes = tuple(getattr(result, "notes", ()))
        except CancelledError:
            raise
        except (OSError, ValueError, RuntimeError, MemoryError, LookupError, AttributeError) as error:
            # A probe that fails must not end the tuning: its figure is then unknown.
            notes = (f"could not measure: {type(error).__name__}: {error}".splitlines()[0],)
    figure = probe.figure(result) if result is not None else "unknown"
    return Reading(probe.name, probe.unit, probe.method, control.clock() - start, result, figure, notes)
