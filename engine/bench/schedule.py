"""The order of runs: round after round, every arm once, so that a slow minute of the machine meets all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from engine.bench import machine, page_cache, process
from engine.bench.drive import Rate, expert_places, expert_request_bytes, rates, read_rate
from engine.bench.measuring import Task
from engine.bench.results import ArmRecord, DriveRecord, MachineRecord, Origin, Record
from engine.bench.suites import Arm, Suite
from engine.errors import SettingsError
from engine.gguf import ModelFiles
from engine.memory import memory_available
from engine.settings import make_settings
from engine.sizes import format_bytes

WARM_CACHE = "the page cache could not be emptied"


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        rounds: how often each arm runs. limit_bytes: for the arms that have a limit; None: without.
        budget_s: begin no round that would end later than this; None: no end.
        done: for each arm, how often it was run before: arms with a number of rounds are not run again.
    """

    files: ModelFiles
    suite: Suite
    rounds: int
    limit_bytes: int | None
    budget_s: float | None = None
    done: tuple[str, ...] = ()


def run(plan: Plan, say: Callable[[str], None]) -> Iterator[Record]:
    """Run the plan; records come as they are measured. `say` gets one line for what is going on."""
    origin = Origin(plan.suite.name, "", plan.files.name, machine.commit(), _now())
    yield MachineRecord(origin, machine.facts())
    begin, longest = time.monotonic(), 0.0
    runs = {arm.name: plan.done.count(arm.name) for arm in plan.suite.arms}
    for number in range(plan.rounds):
        started = time.monotonic()
        if plan.budget_s is not None and number and started - begin + longest > plan.budget_s:
            say(f"no time for another round; {number} of {plan.rounds} done")
            return
        for arm in plan.suite.arms:
            if arm.rounds is not None and runs[arm.name] >= arm.rounds:
                continue
            runs[arm.name] += 1
            say(f"{plan.suite.name}, round {number + 1} of {plan.rounds}: {arm.name}")
            yield _run_arm(plan, arm, origin)
        longest = max(longest, time.monotonic() - started)


def drive_records(files: ModelFiles, seconds: float) -> Iterator[Record]:
    """The drive's rates by size and depth of the reads, for the facts about the machine."""
    if not files.experts():
        raise SettingsError(f"{files.path.name} has no experts to read; measure the drive with a model that has")
    origin = Origin("drive", "", files.name, machine.commit(), _now())
    yield MachineRecord(origin, machine.facts())
    for rate in rates(expert_places(files), seconds=seconds):
        yield DriveRecord(origin, rate.request_bytes, rate.depth, rate.bytes_s, rate.direct)


def lack_of_memory(arm: Arm, model_bytes: int, available_bytes: int) -> str | None:
    """Why a run that has to be in memory would not be, in one line; None if it fits or is not stock llama.cpp.

    Without room for its file llama.cpp would read it for every token, which is no yardstick but takes forever.
    """
    if not arm.plain or model_bytes <= available_bytes:
        return None
    return f"not run: the model has {format_bytes(model_bytes)} and {format_bytes(available_bytes)} are free"


def _now() -> str:
    return datetime.now(UTC).isoformat("T", "seconds")


def _drive_rate(files: ModelFiles) -> Rate | None:
    """At the size and depth with which experts are read; None for a model without experts."""
    size = expert_request_bytes(files)
    depth = make_settings({}).io_threads
    return read_rate(expert_places(files), size, depth) if size else None


def _run_arm(plan: Plan, arm: Arm, origin: Origin) -> ArmRecord:
    named = Origin(origin.suite, arm.name, origin.model, origin.commit, _now())
    too_large = None if arm.limited else lack_of_memory(arm, plan.files.total_bytes, memory_available().available_bytes)
    if too_large is not None:
        return ArmRecord(named, plain=arm.plain, cold=arm.cold, settings=arm.settings, error=too_large)
    rate = None if arm.plain else _drive_rate(plan.files)
    notes = (WARM_CACHE,) if arm.cold and not page_cache.drop() else ()
    suite = plan.suite
    task = Task(
        model=str(plan.files.path),
        prompt_tokens=suite.prompt_tokens,
        tokens=suite.tokens if arm.tokens is None else arm.tokens,
        warm_tokens=suite.warm_tokens if arm.warm_tokens is None else arm.warm_tokens,
        repeats=suite.repeats if arm.repeats is None else arm.repeats,
        blocks=suite.blocks,
        plain=arm.plain,
        cache=arm.cache,
        settings=arm.settings,
        idle_s=arm.idle_s,
    )
    values = process.run(task, plan.limit_bytes if arm.limited else None)
    if rate is not None:
        after = _drive_rate(plan.files) or rate
        middle = (rate.bytes_s + after.bytes_s) / 2
        values |= {"drive_bytes_s": middle, "drive_request_bytes": rate.request_bytes, "drive_depth": rate.depth}
    named = replace(named, when=_now())
    values |= {"notes": (*notes, *values["notes"]), "plain": arm.plain, "cold": arm.cold, "settings": arm.settings}
    return ArmRecord(named, **values)
