"""The tuning: probes, candidates, measured runs, verdict, presets; tells of its progress and keeps its budget.

`tune` is the whole of it as one function for the command line, the service and the wizard. It works on the caller's
thread; everything that can crash or hang runs in the bench's process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from autotune.arms import Answers, ArmRecord, accuracy
from autotune.axes import DEFAULTS
from autotune.baseline import Baseline, BaselineBench, TuningFailedError, sight
from autotune.candidates import candidates
from autotune.control import CancelledError, Control, never
from autotune.facts import facts_of
from autotune.findings import Findings, ProbeRunner
from autotune.fingerprint import engine_parts, fingerprint, model_parts
from autotune.hits import HitCurve
from autotune.machine import MachineModel, Observed
from autotune.pace import PRESET_SHARE, PROBE_LIMIT, TURN_SHARE, Pace, pace, probe_scale
from autotune.preset_bench import PresetBench
from autotune.presets import Tuned, expected_speed, presets, smaller_caches
from autotune.probes import Probe, Reading, run_probes
from autotune.progress import Progress, Report
from autotune.race import Race, Verdict
from autotune.race_bench import RaceBench
from autotune.reasons import reason
from autotune.result import Arm, ArmState, DrivePoint, Phase, TuneResult
from autotune.turn_bench import TurnBench
from autotune.workbench import Bench, BenchCrashedError, BenchRefusedError, BenchTimeoutError, ProcessBench
from engine import __version__
from engine.errors import GannetError
from engine.gguf import ModelFiles
from engine.settings import EngineSettings

__all__ = ["DEFAULT_BUDGET_S", "SHORTEST_BUDGET_S", "TuningFailedError", "tune"]

DEFAULT_BUDGET_S = 180.0
SHORTEST_BUDGET_S = 10.0
CENSUS_TOKENS = 100
"""Fewer tokens say too little of which experts a model prefers."""


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
    progress = Progress(report, clock, budget_s)
    return Tuning(files, base, budget_s, progress, cancelled, bench or ProcessBench(), probe, clock).run()


class Tuning:
    """State of one tuning."""

    def __init__(
        self,
        files: ModelFiles,
        base: EngineSettings,
        budget_s: float,
        progress: Progress,
        cancelled: Callable[[], bool],
        bench: Bench,
        probe: ProbeRunner,
        clock: Callable[[], float],
    ) -> None:
        self._files, self._base, self._budget_s = files, base, budget_s
        self._progress, self._bench, self._probe, self._clock = progress, bench, probe, clock
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        deadline = progress.begin + budget_s * 0.97
        self._control = Control(cancelled, clock, deadline, probe_scale(budget_s), self._measured)
        self._findings = Findings(facts_of(files))
        self._records: dict[str, ArmRecord] = {}
        self._answers = Answers()
        tell = partial(self._tell, Phase.PLAN)
        self._start = BaselineBench(bench, files, base, self._findings, self._answers, self._control, budget_s, tell)
        self._baseline: Baseline | None = None
        self._turns: TurnBench | None = None

    def run(self) -> TuneResult:
        """The whole tuning."""
        try:
            self._probe_machine()
            baseline = self._baseline = self._start.measure()
            verdict, tempo = self._compare(baseline)
            result = self._result(verdict, tempo, baseline)
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

        self._findings.probe(self._probe, self._control.within(PROBE_LIMIT * self._budget_s), progress)

    def _measured(self, kind: str, value: object) -> None:
        """A probe's intermediate figure."""
        if kind == "drive" and isinstance(value, DrivePoint):
            self._findings.points.append(value)
            text = f"Drive: {value.bytes_s / 1e9:.2f} GB/s at queue depth {value.queue_depth}"
            self._tell(Phase.PROBE, 0.12, text, probe="drive", drive=value)

    # ---- the race

    def _compare(self, baseline: Baseline) -> tuple[Verdict, Pace]:
        """Choose arms and the length of a run, and race them."""
        left, begin = self._control.remaining(), self._clock()
        kept = self._kept(baseline, left)
        tempo = pace((1 - kept) * left, baseline.token_s, baseline.prompts)
        found = candidates(sight(baseline, self._findings), limit=tempo.arms)
        for candidate in found:
            default = candidate.name == DEFAULTS
            guess = baseline.guessed_tok_s if default else candidate.expected_tok_s  # calibrated by the defaults' runs
            self._records[candidate.name] = ArmRecord(candidate.name, candidate.changes, default, guess)
        self._tell(Phase.PLAN, 0.25, f"{len(found)} candidates, {tempo.tokens} tokens a run", arms=self._public())
        race = Race([c.name for c in found], baseline.prompts)
        RaceBench(
            self._bench,
            self._control,
            baseline,
            race,
            tempo,
            self._records,
            self._answers,
            begin=begin,
            until=begin + (1 - kept) * left,
            restore=self._start.restore,
            note=self._findings.notes.append,
            tell=self._tell_arms,
        ).measure()
        return race.verdict(), tempo

    def _kept(self, baseline: Baseline, left: float) -> float:
        """Share of the time that is kept for what comes after the race."""
        tell = partial(self._tell_arms, Phase.CONFIRM, 0.92)
        find = partial(sight, baseline, self._findings)
        turns = self._turns = TurnBench(self._bench, self._files.path, self._control, baseline.settings, find, tell)
        turns.load_s = baseline.loaded.load_s
        promising = turns.plan(DEFAULTS, {}, TURN_SHARE * left)
        return (PRESET_SHARE if baseline.loaded.streaming else 0.0) + (TURN_SHARE if promising else 0.0)

    # ---- the end

    def _result(self, verdict: Verdict, tempo: Pace, baseline: Baseline) -> TuneResult:
        winner = self._settle(verdict)
        speed = winner.public().decode_tok_s
        tuned = self._tuned(winner, baseline)
        measured = self._measure_presets(tuned, tempo, baseline)
        guesses = [(expected_speed(tuned, smaller_caches(tuned)[key]) or 0.0, tok_s) for key, tok_s in measured.items()]
        turned = self._compare_turns(winner)  # loads anew: after everything that needs the cache as it is
        more = {n: v for n, v in turned.changes.items() if n not in winner.changes} if turned else {}
        text = reason(verdict, self._records, DEFAULTS)
        best = tuned.model.expect(baseline.operating(winner.changes)).roofline_tok_s
        return self._blank().model_copy(
            update={
                "chosen": dict(winner.changes) | more,
                "chosen_arm": turned.name if turned and winner.default else winner.name,
                "reason": f"{text} {self._turns.sentence(turned)}" if self._turns and turned else text,
                "presets": presets(replace(tuned, chosen=dict(winner.changes) | more, measured=measured)),
                "accuracy": accuracy(list(self._records.values()), 1.0 / baseline.token_s, guesses),
                "roofline_tok_s": max(best, speed.middle if speed else 0.0),
            }
        )

    def _settle(self, verdict: Verdict) -> ArmRecord:
        """Give every arm its final state; returns the winner."""
        winner = self._records[verdict.winner]
        for arm in self._records.values():
            if arm.state in {ArmState.RUNNING, ArmState.WAITING}:
                arm.state = ArmState.KEPT if arm.runs else ArmState.SKIPPED
        winner.state = ArmState.CHOSEN
        if verdict.ratio is not None and verdict.best is not None:
            self._records[verdict.best].ratio = verdict.ratio
        return winner

    def _tuned(self, winner: ArmRecord, baseline: Baseline) -> Tuned:
        """What the presets are derived from."""
        at, speed = baseline.operating(winner.changes), winner.public().decode_tok_s
        stall_s, model = (winner.stall_ms() or 0.0) / 1e3, self._with_census(baseline.model)
        if speed is not None:
            model = model.calibrated(at, Observed(1.0 / speed.middle, stall_s, winner.read_bytes() or 0.0))
        return Tuned(
            base=self._base,
            chosen=winner.changes,
            tok_s=speed.middle if speed else None,
            stall_s=stall_s,
            cache_bytes=at.cache_bytes if baseline.loaded.streaming else 0,
            resident_bytes=baseline.loaded.resident_bytes,
            automatic=baseline.automatic,
            model=model,
        )

    def _measure_presets(self, tuned: Tuned, tempo: Pace, baseline: Baseline) -> dict[str, float]:
        left = self._control.remaining()
        share = PRESET_SHARE / (PRESET_SHARE + TURN_SHARE) if self._turns and self._turns.arms else 1.0
        tell, note = partial(self._tell_arms, Phase.CONFIRM, 0.86), self._findings.notes.append
        bench = PresetBench(self._bench, self._control, baseline.settings, note, tell)
        return bench.measure(tuned, tempo, baseline.prompts, self._clock() + share * left)

    def _compare_turns(self, winner: ArmRecord) -> ArmRecord | None:
        """The arm that makes whole turns faster than the race's winner, or None."""
        if self._turns is None or not self._turns.arms:
            return None
        left = self._control.remaining()
        if not self._turns.plan(winner.name, winner.changes, left):
            self._findings.notes.append("there was no time to compare settings that need a new load")
            return None
        return self._turns.compare(self._clock() + left)

    def _with_census(self, model: MachineModel) -> MachineModel:
        """The machine model with the hit curve of what the measured answers used: the presets' caches differ in it."""
        try:
            uses = self._bench.census(self._control).uses
        except (BenchCrashedError, BenchRefusedError):
            return model
        facts = self._findings.facts
        tokens = sum(sum(row) for row in uses) / max(1, facts.n_moe_layer * facts.n_used)
        return replace(model, hits=HitCurve.from_uses(uses)) if tokens >= CENSUS_TOKENS else model

    def _cancelled_result(self) -> TuneResult:
        reason_text = "The tuning was cancelled; the settings stay as they were."
        return self._blank().model_copy(update={"cancelled": True, "reason": reason_text})

    def _unmeasured_result(self, error: GannetError) -> TuneResult:
        text = "The time was too short to load the model and to measure it, so the settings stay as they were."
        self._findings.notes.append(f"the model's process: {error}")
        self._records.setdefault(DEFAULTS, ArmRecord(DEFAULTS, {}, True, None, ArmState.SKIPPED))
        return self._blank().model_copy(update={"reason": text})

    def _blank(self) -> TuneResult:
        """A result that chooses nothing, with all that is known."""
        machine = self._findings.machine_parts()
        return TuneResult(
            chosen={},
            chosen_arm=DEFAULTS,
            reason="",
            arms=self._public(),
            drive=self._findings.drive,
            base=self._base.model_dump(),
            fingerprint=fingerprint(machine, model_parts(self._files), engine_parts()),
            engine_version=__version__,
            model_path=str(self._files.path),
            started=self._started,
            seconds=self._progress.elapsed_s,
            budget_s=self._budget_s,
            notes=tuple(self._findings.notes),
        )

    # ---- telling

    def _public(self) -> tuple[Arm, ...]:
        speed = self._baseline.prompt_tok_s if self._baseline else None
        shown = [arm.public() for arm in self._records.values()]
        turned = tuple(arm.public() for arm in self._turns.arms.values()) if self._turns else ()
        return tuple(arm.model_copy(update={"prompt_tok_s": speed}) if arm.default else arm for arm in shown) + turned

    def _tell(self, phase: Phase, fraction: float, message: str, **more: Any) -> None:
        self._progress.tell(phase, fraction, message, **more)

    def _tell_arms(self, phase: Phase, fraction: float, message: str) -> None:
        self._progress.tell(phase, fraction, message, arms=self._public())
