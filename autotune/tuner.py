"""The tuning: probes, candidates, measured runs, verdict, presets; tells of its progress and keeps its budget.

`tune` is the whole of it as one function for the command line, the service and the wizard. It works on the caller's
thread; everything that can crash or hang runs in the bench's process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from statistics import fmean
from typing import Any

from autotune.arms import Answers, ArmRecord, accuracy
from autotune.axes import DEFAULTS, Automatic, Sight
from autotune.candidates import candidates, operating
from autotune.control import CancelledError, Control, never
from autotune.facts import ModelFacts, facts_of
from autotune.fingerprint import engine_parts, fingerprint, machine_parts, model_parts
from autotune.hits import HitCurve
from autotune.machine import MachineModel, Observed, Operating, machine_model
from autotune.pace import (
    BASELINE_SHARE,
    CONFIRM_SHARE,
    MOST_FAST_TOKENS,
    PREPARE_SHARE,
    PRESET_SHARE,
    PROBE_LIMIT,
    TURN_SHARE,
    Pace,
    pace,
    probe_scale,
    run_limit,
)
from autotune.preset_bench import PresetBench
from autotune.presets import Tuned, expected_speed, presets, smaller_caches
from autotune.probes import Probe, Reading, run_probes
from autotune.race import Race, Turn, Verdict
from autotune.reasons import reason
from autotune.result import Arm, ArmState, DrivePoint, Phase, TuneEvent, TuneResult
from autotune.turn_bench import TurnBench
from autotune.workbench import Bench, BenchCrashedError, BenchRefusedError, BenchTimeoutError, ProcessBench
from autotune.worker import Loaded, Prepared, Run
from engine import __version__
from engine.errors import GannetError
from engine.gguf import ModelFiles
from engine.memory import memory_available, plan_memory
from engine.processors import available_cores
from engine.settings import EngineSettings

DEFAULT_BUDGET_S = 180.0
SHORTEST_BUDGET_S = 10.0
BASELINE_TOKENS = 6
BASELINE_SECONDS = 1.0
"""The defaults' first answers are at least so many tokens, and where those are fast as many as take so long."""
CENSUS_TOKENS = 100
"""Fewer tokens say too little of which experts a model prefers."""
Report = Callable[[TuneEvent], None]
Readings = Mapping[str, Reading[Any]]
ProbeRunner = Callable[..., dict[str, Reading[Any]]]


class TuningFailedError(GannetError):
    """The model could not be measured at all; the message says why."""


def tune(
    files: ModelFiles,
    base: EngineSettings,
    *,
    budget_s: float = DEFAULT_BUDGET_S,
    report: Report = lambda _event: None,
    cancelled: Callable[[], bool] = never,
    bench: Bench | None = None,
    probe: ProbeRunner = run_probes,
    clock: Callable[[], float] = time.perf_counter,
) -> TuneResult:
    """Measure `files` beginning with the settings `base`, for about `budget_s` seconds.

    Never raises for a cancelled tuning, an arm that crashes or a figure that cannot be measured: the result says
    so. Raises `TuningFailedError` where not even the settings it began with can be measured, `ValueError` for a budget
    under ten seconds. The bench is closed in every case.
    """
    if budget_s < SHORTEST_BUDGET_S:
        raise ValueError(f"a tuning needs at least {SHORTEST_BUDGET_S:.0f} seconds")
    tuning = Tuning(files, base, budget_s, report, cancelled, bench or ProcessBench(), probe, clock)
    return tuning.run()


@dataclass
class _Machine:
    """What is known once the model is loaded and the prompts are computed."""

    loaded: Loaded
    prompts: int
    prompt_tok_s: float
    model: MachineModel
    token_s: float
    guessed_tok_s: float
    automatic: Automatic


class Tuning:
    """State of one tuning."""

    def __init__(
        self,
        files: ModelFiles,
        base: EngineSettings,
        budget_s: float,
        report: Report,
        cancelled: Callable[[], bool],
        bench: Bench,
        probe: ProbeRunner,
        clock: Callable[[], float],
    ) -> None:
        self._files, self._base, self._budget_s = files, base, budget_s
        self._facts: ModelFacts = facts_of(files)
        self._report, self._bench, self._probe, self._clock = report, bench, probe, clock
        self._begin = clock()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        deadline = self._begin + budget_s * 0.97
        self._control = Control(cancelled, clock, deadline, probe_scale(budget_s), self._measured)
        self._arms: dict[str, ArmRecord] = {}
        self._answers = Answers()
        self._drive: list[DrivePoint] = []
        self._notes: list[str] = []
        self._readings: dict[str, Reading[Any]] = {}
        self._machine: _Machine | None = None
        tell = partial(self._tell_late, 0.92)
        self._turns = TurnBench(bench, files.path, self._control, self._settings, self._sight, tell)
        self._until = deadline  # end of the stage that runs
        self._planned_cache = 0

    def run(self) -> TuneResult:
        """The whole tuning."""
        try:
            self._probe_machine()
            machine = self._prepare()
            race, tempo = self._plan(machine)
            self._measure(race, tempo, machine)
            result = self._result(race.verdict(), tempo, machine)
            self._tell(Phase.DONE, 1.0, result.reason, result=result)
        except BenchTimeoutError as error:
            result = self._unmeasured_result(error)
            self._tell(Phase.DONE, 1.0, result.reason, result=result)
        except CancelledError:
            result = self._cancelled_result()
            self._tell(Phase.CANCELLED, 1.0, result.reason, result=result)
        except GannetError as error:
            self._tell(Phase.FAILED, 1.0, str(error), error=str(error))
            raise
        finally:
            self._bench.close()
        return result

    # ---- probing

    def _probe_machine(self) -> None:
        def progress(probe: Probe[Any], reading: Reading[Any] | None, share: float) -> None:
            value = None if reading is None else reading.figure
            text = f"Measuring: {probe.title}" if reading is None else f"{probe.title}: {reading.figure}"
            self._tell(Phase.PROBE, 0.17 * share, text, probe=probe.name, value=value)

        limits = self._control.within(PROBE_LIMIT * self._budget_s)
        self._readings = self._probe(self._facts, limits, progress)
        for reading in self._readings.values():
            self._notes += [note for note in reading.notes if note not in self._notes]

    def _measured(self, kind: str, value: object) -> None:
        """A probe's intermediate figure."""
        if kind == "drive" and isinstance(value, DrivePoint):
            self._drive.append(value)
            text = f"Drive: {value.bytes_s / 1e9:.2f} GB/s at queue depth {value.queue_depth}"
            self._tell(Phase.PROBE, 0.12, text, probe="drive", drive=value)

    def _found(self, name: str) -> Any:
        reading = self._readings.get(name)
        return reading.result if reading is not None else None

    # ---- planning

    def _prepare(self) -> _Machine:
        """Load, compute the prompts, and answer each once with the defaults: the model's own figures."""
        settings = self._base.model_dump()
        self._tell(Phase.PLAN, 0.18, "Loading the model")
        plan = plan_memory(self._files, self._base.model_copy(update={"cache_bytes": None}), memory_available())
        self._planned_cache = plan.cache_bytes if plan.streaming else 0
        try:
            loaded = self._bench.load(self._files.path, settings, self._control)
            self._tell(Phase.PLAN, 0.20, "Computing the prompts to measure with")
            prepared = self._prepare_prompts()
            model = self._model()
            guess = model.expect(self._operating({}, loaded)).seconds
            limit = BASELINE_SHARE * self._budget_s / prepared.prompts
            runs = [self._baseline(prompt, guess, limit) for prompt in range(prepared.prompts)]
        except BenchTimeoutError:
            raise
        except (BenchCrashedError, BenchRefusedError) as error:
            raise TuningFailedError(f"{self._files.path.name} could not be measured: {error}") from error
        if prepared.prompts < 3:
            self._notes.append(f"computing a prompt takes long here: only {prepared.prompts} of 3 are used")
        elif prepared.shortened:
            self._notes.append("computing a prompt takes long here: short ones are used")
        self._notes += [note for note in loaded.notes if note not in self._notes]
        seconds = [s for run in runs for s in run.seconds]
        if not seconds:
            raise BenchTimeoutError("not one token was computed in the time there was")
        token_s, automatic = fmean(seconds), self._automatic(loaded)
        stall_s = fmean(r.stall_ms_per_token for r in runs) / 1e3
        seen = Observed(token_s, stall_s, fmean(r.read_bytes_per_token for r in runs))
        model = model.calibrated(self._operating({}, loaded), seen)
        self._machine = _Machine(
            loaded, prepared.prompts, prepared.prompt_tok_s, model, token_s, 1.0 / guess, automatic
        )
        return self._machine

    def _prepare_prompts(self) -> Prepared:
        """Have the prompts computed. Raises `BenchTimeoutError` if there was not even time for the first of them."""
        limit_s = PREPARE_SHARE * self._budget_s
        prepared = self._bench.prepare(self._sane(), limit_s, self._control)
        if not prepared.prompts:
            raise BenchTimeoutError(f"the first tokens of a prompt took longer than {limit_s:.0f} s")
        return prepared

    def _sane(self) -> dict[str, Any]:
        """What to compute the prompts with: they need not suffer from settings that change no answer."""
        compute, fields = self._found("compute"), EngineSettings.model_fields
        changes = {name: fields[name].default for name in ("io_threads", "lookahead")}
        changes["threads"] = compute.best_threads if compute else None
        return self._base.model_copy(update=changes).model_dump()

    def _baseline(self, prompt: int, guess_s: float, limit_s: float) -> Run:
        tokens = max(BASELINE_TOKENS, min(MOST_FAST_TOKENS, int(BASELINE_SECONDS / max(guess_s, 1e-6))))
        limit = max(3.0, min(10.0 * tokens * guess_s, limit_s))
        run = self._bench.run(self._base.model_dump(), prompt, tokens, limit, self._control)
        self._answers.learn(prompt, run.tokens)
        return run

    def _model(self) -> MachineModel:
        compute, bandwidth, cores = self._found("compute"), self._found("bandwidth"), self._found("cores")
        return machine_model(
            self._facts,
            compute.token_seconds if compute else None,
            self._found("drive").points if self._found("drive") else self._drive,
            cores.usable_cores if cores else available_cores(),
            bandwidth.best_bytes_s if bandwidth else None,
        )

    def _operating(self, changes: Mapping[str, Any], loaded: Loaded) -> Operating:
        return operating(self._base, changes, self._automatic(loaded))

    def _automatic(self, loaded: Loaded) -> Automatic:
        """What automatic values mean here. A cache that is automatic already is the one that was loaded."""
        if not loaded.streaming:  # everything is in memory
            return Automatic(available_cores(), self._facts.experts_bytes, self._facts.experts_bytes)
        cache = loaded.cache_bytes if self._base.cache_bytes is None else self._planned_cache
        return Automatic(available_cores(), cache, loaded.cache_bytes)

    def _settings(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The base with an arm's changes, for the bench: which was loaded with another cache than the automatic one."""
        changes = dict(changes)
        if "cache_bytes" in changes and changes["cache_bytes"] is None:
            changes["cache_bytes"] = self._planned_cache
        return self._base.model_copy(update=changes).model_dump()

    def _sight(self, prompt_tokens: int = 0) -> Sight:
        """What candidates are chosen from, once the model is loaded."""
        machine = self._machine
        assert machine is not None
        gpus = self._found("gpu")
        devices = gpus.devices if gpus else ()
        return Sight(machine.model, self._base, machine.automatic, prompt_tokens, devices, machine.loaded.streaming)

    def _plan(self, machine: _Machine) -> tuple[Race, Pace]:
        """Choose arms and the length of a run; the machine model is calibrated with what the defaults just did."""
        left = self._control.remaining()
        self._turns.load_s = machine.loaded.load_s
        turns = self._turns.plan(DEFAULTS, {}, TURN_SHARE * left)
        kept = (PRESET_SHARE if machine.loaded.streaming else 0.0) + (TURN_SHARE if turns else 0.0)
        self._until = self._clock() + (1 - kept) * left
        tempo = pace((1 - kept) * left, machine.token_s, machine.prompts)
        found = candidates(self._sight(), limit=tempo.arms)
        for candidate in found:
            default = candidate.name == DEFAULTS
            guess = machine.guessed_tok_s if default else candidate.expected_tok_s  # calibrated by the defaults' runs
            self._arms[candidate.name] = ArmRecord(candidate.name, candidate.changes, default, guess)
        self._tell(Phase.PLAN, 0.25, f"{len(found)} candidates, {tempo.tokens} tokens a run", arms=self._public())
        return Race([c.name for c in found], machine.prompts), tempo

    # ---- measuring

    def _measure(self, race: Race, tempo: Pace, machine: _Machine) -> None:
        start, left = self._clock(), self._until - self._clock()
        until = start + left * (1 - CONFIRM_SHARE)
        while turns := race.round():
            for i, turn in enumerate(turns):
                if self._clock() > until and i >= len(race.running) * min(2, machine.prompts):
                    break
                if not self._turn(race, turn, tempo, machine, Phase.MEASURE, start, left):
                    break
            for name in race.halve():
                if self._arms[name].state is ArmState.RUNNING:
                    self._arms[name].state = ArmState.DROPPED
        while len(race.running) > 1 and not race.decided():
            for turn in race.confirmation():
                if not self._turn(race, turn, tempo, machine, Phase.CONFIRM, start, left):
                    return

    def _turn(
        self, race: Race, turn: Turn, tempo: Pace, machine: _Machine, phase: Phase, start: float, total: float
    ) -> bool:
        """One run. False when there is no time left for it."""
        arm = self._arms[turn.arm]
        if turn.arm not in race.running:
            return True
        tokens = tempo.confirm_tokens if turn.confirming else tempo.tokens
        expected = tokens * machine.token_s
        if self._until - self._clock() < expected + 0.5:
            return False
        fraction = 0.25 + 0.6 * min(1.0, (self._clock() - start) / max(total, 1e-9))
        self._tell(phase, fraction, f"Measuring {arm.name}", arms=self._public())
        if arm.state is ArmState.WAITING:
            arm.state = ArmState.RUNNING
        limit = min(run_limit(tokens, machine.token_s), self._control.remaining())
        try:
            run = self._bench.run(self._settings(arm.changes), turn.prompt, tokens, limit, self._control)
        except (BenchCrashedError, BenchRefusedError) as error:
            if self._control.remaining() <= 0:
                return False
            self._crashed(race, arm, error)
            return True
        self._note(race, turn, arm, run)
        if not run.seconds and not arm.default and self._control.remaining() > 0:
            arm.state, arm.error = ArmState.DROPPED, f"not one token in {limit:.1f} s"
            race.drop(arm.name)
        return True

    def _note(self, race: Race, turn: Turn, arm: ArmRecord, run: Run) -> None:
        if arm.default:
            self._answers.learn(turn.prompt, run.tokens)
        arm.identical = self._answers.agree(turn.prompt, run.tokens) and arm.identical is not False
        if not arm.identical:
            arm.state, arm.error = ArmState.WRONG, "it gave another answer than the settings before"
            race.drop(arm.name)
            return
        arm.add(run)
        if run.seconds:
            race.record(turn, run.seconds)
        for name in race.running:
            if name != race.default:
                self._arms[name].ratio = race.interval(name)

    def _crashed(self, race: Race, arm: ArmRecord, error: GannetError) -> None:
        """Note it, and bring the bench back to where it was. Raises `TuningFailedError` if that is impossible.

        What may have nothing to do with the arm is forgiven once: a worker that did not answer (the computer slept, the
        drive hung), and a crash under the settings that just worked.
        """
        arm.failures += 1
        forgiven = arm.failures == 1 and (arm.default or isinstance(error, BenchTimeoutError))
        self._notes.append(f"{arm.name}: {error}{'; it was tried again' if forgiven else ''}")
        if not forgiven:
            arm.state, arm.error = ArmState.CRASHED, str(error)
            race.drop(arm.name)
            if arm.default:
                raise TuningFailedError(f"the settings themselves fail: {error}")
        try:
            self._bench.load(self._files.path, self._base.model_dump(), self._control)
            self._prepare_prompts()
        except BenchTimeoutError:
            raise
        except (BenchCrashedError, BenchRefusedError) as again:
            raise TuningFailedError(f"after {arm.name} failed ({error}) the model did not load: {again}") from again

    # ---- the end

    def _result(self, verdict: Verdict, tempo: Pace, machine: _Machine) -> TuneResult:
        winner = self._arms[verdict.winner]
        for arm in self._arms.values():
            if arm.state in {ArmState.RUNNING, ArmState.WAITING}:
                arm.state = ArmState.KEPT if arm.runs else ArmState.SKIPPED
        winner.state = ArmState.CHOSEN
        if verdict.ratio is not None and verdict.best is not None:
            self._arms[verdict.best].ratio = verdict.ratio
        at = self._operating(winner.changes, machine.loaded)
        speed = winner.public().decode_tok_s
        model = self._with_census(machine.model)
        if speed is not None:
            seen = Observed(1.0 / speed.middle, (winner.stall_ms() or 0.0) / 1e3, winner.read_bytes() or 0.0)
            model = model.calibrated(at, seen)
        tuned = Tuned(
            base=self._base,
            chosen=winner.changes,
            tok_s=speed.middle if speed else None,
            stall_s=(winner.stall_ms() or 0.0) / 1e3,
            cache_bytes=at.cache_bytes if machine.loaded.streaming else 0,
            resident_bytes=machine.loaded.resident_bytes,
            automatic=machine.automatic,
            model=model,
        )
        measured = self._measure_presets(tuned, tempo, machine)
        guesses = [(expected_speed(tuned, smaller_caches(tuned)[key]) or 0.0, tok_s) for key, tok_s in measured.items()]
        turned = self._compare_turns(winner)  # loads anew: after everything that needs the cache as it is
        more = {n: v for n, v in turned.changes.items() if n not in winner.changes} if turned else {}
        text = reason(verdict, self._arms, DEFAULTS)
        return self._blank().model_copy(
            update={
                "chosen": dict(winner.changes) | more,
                "chosen_arm": turned.name if turned and winner.default else winner.name,
                "reason": f"{text} {self._turns.sentence(turned)}" if turned else text,
                "presets": presets(replace(tuned, chosen=dict(winner.changes) | more, measured=measured)),
                "accuracy": accuracy(list(self._arms.values()), guesses),
                "roofline_tok_s": max(model.expect(at).roofline_tok_s, speed.middle if speed else 0.0),
            }
        )

    # ---- after the race: what the presets cost, and what needs a new load

    def _measure_presets(self, tuned: Tuned, tempo: Pace, machine: _Machine) -> dict[str, float]:
        left = self._control.remaining()
        share = PRESET_SHARE / (PRESET_SHARE + TURN_SHARE) if self._turns.arms else 1.0
        tell = partial(self._tell_late, 0.86)
        bench = PresetBench(self._bench, self._control, self._settings, self._notes.append, tell)
        return bench.measure(tuned, tempo, machine.prompts, self._clock() + share * left)

    def _compare_turns(self, winner: ArmRecord) -> ArmRecord | None:
        """The arm that makes whole turns faster than the race's winner, or None."""
        if not self._turns.arms:
            return None
        left = self._control.remaining()
        if not self._turns.plan(winner.name, winner.changes, left):
            self._notes.append("there was no time to compare settings that need a new load")
            return None
        return self._turns.compare(self._clock() + left)

    def _tell_late(self, fraction: float, text: str) -> None:
        self._tell(Phase.CONFIRM, fraction, text, arms=self._public())

    def _with_census(self, model: MachineModel) -> MachineModel:
        """The machine model with the hit curve of what the measured answers used: the presets' caches differ in it."""
        try:
            uses = self._bench.census(self._control).uses
        except (BenchCrashedError, BenchRefusedError):
            return model
        tokens = sum(sum(row) for row in uses) / max(1, self._facts.n_moe_layer * self._facts.n_used)
        return replace(model, hits=HitCurve.from_uses(uses)) if tokens >= CENSUS_TOKENS else model

    def _cancelled_result(self) -> TuneResult:
        reason_text = "The tuning was cancelled; the settings stay as they were."
        return self._blank().model_copy(update={"cancelled": True, "reason": reason_text})

    def _unmeasured_result(self, error: GannetError) -> TuneResult:
        text = "The time was too short to load the model and to measure it, so the settings stay as they were."
        self._notes.append(f"the model's process: {error}")
        self._arms.setdefault(DEFAULTS, ArmRecord(DEFAULTS, {}, True, None, ArmState.SKIPPED))
        return self._blank().model_copy(update={"reason": text})

    def _blank(self) -> TuneResult:
        """A result that chooses nothing, with all that is known."""
        machine = machine_parts(self._found("memory"), self._found("cores"), self._found("gpu"), self._found("volume"))
        return TuneResult(
            chosen={},
            chosen_arm=DEFAULTS,
            reason="",
            arms=self._public(),
            drive=self._found("drive").points if self._found("drive") else tuple(self._drive),
            base=self._base.model_dump(),
            fingerprint=fingerprint(machine, model_parts(self._files), engine_parts()),
            engine_version=__version__,
            model_path=str(self._files.path),
            started=self._started,
            seconds=self._clock() - self._begin,
            budget_s=self._budget_s,
            notes=tuple(self._notes),
        )

    def _public(self) -> tuple[Arm, ...]:
        speed = self._machine.prompt_tok_s if self._machine else None
        shown = [arm.public() for arm in self._arms.values()]
        turned = tuple(arm.public() for arm in self._turns.arms.values())
        return tuple(arm.model_copy(update={"prompt_tok_s": speed}) if arm.default else arm for arm in shown) + turned

    def _tell(self, phase: Phase, fraction: float, message: str, **more: Any) -> None:
        now = self._clock()
        left = max(0.0, self._begin + self._budget_s - now) if phase in _UNDER_WAY else 0.0
        elapsed = now - self._begin
        self._report(
            TuneEvent(phase=phase, fraction=fraction, message=message, elapsed_s=elapsed, remaining_s=left, **more)
        )


_UNDER_WAY = {Phase.PROBE, Phase.PLAN, Phase.MEASURE, Phase.CONFIRM}
