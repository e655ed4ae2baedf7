"""The whole tuning on a simulated machine: at stake are speed, time beyond the budget, and the former settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from autotune.arms import ArmRecord, accuracy
from autotune.replies import Run
from autotune.result import ArmState, Phase, TuneEvent, TuneResult
from autotune.tuner import TuningFailedError, tune
from autotune.workbench import BenchCrashedError, BenchTimeoutError
from engine.gguf import ModelFiles, open_model
from engine.memory import memory_available, plan_memory
from engine.settings import EngineSettings
from tests.autotune.simulated import FAST_DRIVE, SLOW_DRIVE, SimulatedBench, drive_points, probes_of
from tests.models import Recipe

Settings = Mapping[str, Any]
CACHE = 4 << 30
SLOWEST_DRIVE = drive_points({1: 6e6, 8: 6e6})
"""So slow that even a tiny model takes a second to read."""
BAD = EngineSettings(io_threads=1, lookahead=0, threads=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    from tests.models import build

    return open_model(build(tmp_path_factory.mktemp("model"), Recipe()))


def plausible(settings: Settings) -> float:
    """A machine on which the program's own defaults are about best."""
    seconds = 0.22
    seconds *= {0: 1.4, 1: 1.15, 2: 1.05, 3: 1.0}.get(settings["lookahead"], 1.2)
    seconds *= 1.3 if settings["io_threads"] < 4 else 1.0
    return seconds * (1.6 if settings["threads"] == 1 else 1.0)


@dataclass
class Outcome:
    result: TuneResult
    events: list[TuneEvent]
    bench: SimulatedBench


def tuned(
    files: ModelFiles,
    token_s: Callable[[Settings], float],
    base: EngineSettings | None = None,
    budget_s: float = 180,
    drive: Any = FAST_DRIVE,
    cores: int = 2,
    compute: Any = ((1, 0.2), (2, 0.11)),
    cancel_at: float = float("inf"),
    **bench: Any,
) -> Outcome:
    machine = SimulatedBench(token_s, **bench)
    events: list[TuneEvent] = []
    result = tune(
        files,
        base or EngineSettings(),
        budget_s=budget_s,
        report=events.append,
        cancelled=lambda: machine.now >= cancel_at,
        bench=machine,
        probe=probes_of(machine, drive, compute, cores),
        clock=machine.clock,
    )
    return Outcome(result, events, machine)


def test_settings_made_bad_on_purpose_are_repaired(files: ModelFiles) -> None:
    found = tuned(files, plausible, BAD)
    chosen = BAD.model_dump() | found.result.chosen
    assert plausible(BAD.model_dump()) / plausible(chosen) >= 1.10
    winner = next(arm for arm in found.result.arms if arm.state is ArmState.CHOSEN)
    assert winner.ratio is not None
    assert winner.ratio.low > 1
    assert f"{winner.ratio.middle:.2f} times as fast" in found.result.reason


def test_good_settings_stay_and_the_reason_says_what_came_closest(files: ModelFiles) -> None:
    found = tuned(files, plausible)
    assert found.result.chosen == {}
    assert found.result.chosen_arm == "defaults"
    assert "stay as they were" in found.result.reason
    assert len(found.result.arms) > 3


@pytest.mark.parametrize("budget_s", [10, 30, 60, 180, 600])
@pytest.mark.parametrize("token_s", [0.02, 0.25, 2.0])
def test_the_budget_is_kept(files: ModelFiles, budget_s: float, token_s: float) -> None:
    found = tuned(files, lambda s: token_s, budget_s=budget_s, prompt_s=min(3.0, 0.05 * budget_s))
    assert found.bench.now <= budget_s * 1.02 + 1.0
    assert found.result.chosen == {}


def test_a_slow_drive_still_ends_with_a_sensible_choice(files: ModelFiles) -> None:
    """On a drive of 0.4 GB/s wrong guesses cost most: no lookahead is best there."""

    def slow(settings: Settings) -> float:
        return 1.2 * {0: 0.8, 1: 1.0, 2: 1.25, 3: 1.5}.get(settings["lookahead"], 2.0)

    base = EngineSettings(lookahead=1)
    found = tuned(files, slow, base, drive=SLOW_DRIVE, prompts=1, prompt_s=20.0)
    assert slow(base.model_dump() | found.result.chosen) <= 1.2
    assert any("only 1 of 3" in note for note in found.result.notes)


def test_one_core_is_measured_with_one_thread_only(files: ModelFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.baseline.available_cores", lambda: 1)
    found = tuned(files, plausible, cores=1, compute=((1, 0.2),))
    assert {run["threads"] for run in found.bench.runs} <= {None, 1}


def test_an_arm_that_runs_out_of_memory_is_a_result_and_not_the_end(files: ModelFiles) -> None:
    doomed: list[Settings] = []

    def crash(settings: Settings) -> None:
        if settings != BAD.model_dump() and not doomed:
            doomed.append(settings)
        if settings in doomed:
            raise BenchCrashedError("it ran out of memory and was ended by the system")

    found = tuned(files, plausible, BAD, fault=crash)
    (crashed,) = [arm for arm in found.result.arms if arm.state is ArmState.CRASHED]
    assert "out of memory" in (crashed.error or "")
    assert BAD.model_dump() | crashed.settings == doomed[0]
    assert found.result.chosen
    assert found.result.chosen != crashed.settings
    assert len(found.bench.loads) == 2  # loaded again after the crash


def test_a_worker_that_hung_once_is_started_again_and_the_tuning_goes_on(files: ModelFiles) -> None:
    """A computer that slept in the middle of a run, a drive that stood still: no arm's fault."""
    asked: list[Settings] = []

    def hang_once(settings: Settings) -> None:
        asked.append(settings)
        if len(asked) == 8:
            raise BenchTimeoutError("it did not finish in the time there was")

    found = tuned(files, plausible, BAD, fault=hang_once)
    assert len(asked) > 8
    assert all(arm.state is not ArmState.CRASHED for arm in found.result.arms)
    assert found.result.chosen
    assert len(found.bench.loads) == 2
    assert any("tried again" in note for note in found.result.notes)


def test_an_arm_that_is_hopelessly_slow_costs_one_run(files: ModelFiles) -> None:
    def slow(settings: Settings) -> float:
        return 100.0 if settings["lookahead"] == 2 else 0.2

    found = tuned(files, slow)
    hopeless = [arm for arm in found.result.arms if arm.settings.get("lookahead") == 2 and arm.error]
    assert all(arm.state is ArmState.DROPPED for arm in hopeless)
    assert sum(run["lookahead"] == 2 for run in found.bench.runs) == len(hopeless)


def test_where_even_the_first_token_takes_too_long_the_settings_stay_and_the_reason_says_so(files: ModelFiles) -> None:
    found = tuned(files, lambda s: 1000.0, budget_s=60)
    assert found.result.chosen == {}
    assert "too short" in found.result.reason
    assert found.events[-1].phase is Phase.DONE


def test_where_no_prompt_can_be_computed_in_time_the_settings_stay_without_an_error(files: ModelFiles) -> None:
    found = tuned(files, plausible, prompts=0)
    assert found.result.chosen == {}
    assert "too short" in found.result.reason
    assert any("first tokens" in note for note in found.result.notes)
    assert [(arm.name, arm.state) for arm in found.result.arms] == [("defaults", ArmState.SKIPPED)]


def test_an_arm_that_answers_differently_is_never_chosen_however_fast(files: ModelFiles) -> None:
    def wrong(settings: Settings) -> tuple[int, ...] | None:
        return (7, 7, 7) if settings["lookahead"] == 2 else None

    found = tuned(files, lambda s: 0.05 if s["lookahead"] == 2 else 0.2, fault=wrong)
    assert all(arm.state is ArmState.WRONG for arm in found.result.arms if arm.settings.get("lookahead") == 2)
    assert found.result.chosen.get("lookahead") != 2


def test_if_the_settings_themselves_fail_the_user_is_told_and_nothing_is_chosen(files: ModelFiles) -> None:
    def crash(settings: Settings) -> None:
        raise BenchCrashedError("it crashed (signal 11)")

    with pytest.raises(TuningFailedError, match="signal 11"):
        tuned(files, plausible, fault=crash)


@pytest.mark.parametrize("moment", [0.0, 3.5, 6.5, 9.0, 20.0, 40.0, 65.0])
def test_cancelled_at_any_moment_the_old_settings_stay(files: ModelFiles, moment: float) -> None:
    found = tuned(files, plausible, BAD, cancel_at=moment)
    assert found.result.cancelled
    assert found.result.chosen == {}
    assert found.result.base == BAD.model_dump()
    assert found.events[-1].phase is Phase.CANCELLED
    assert found.bench.closed
    assert found.bench.now <= moment + 12  # simulated: whatever call was under way ends first


def test_progress_never_goes_back_and_the_last_event_carries_the_result(files: ModelFiles) -> None:
    found = tuned(files, plausible, BAD)
    steps = [event.fraction for event in found.events if event.drive is None]
    assert steps == sorted(steps)
    assert found.events[-1].phase is Phase.DONE
    assert found.events[-1].result == found.result
    assert [e.drive for e in found.events if e.drive] == list(FAST_DRIVE)
    assert any(e.arms and any(a.state is ArmState.RUNNING for a in e.arms) for e in found.events)


def test_the_result_can_be_stored_and_read_back(files: ModelFiles, tmp_path: Path) -> None:
    found = tuned(files, plausible, BAD)
    assert TuneResult.model_validate_json(found.result.model_dump_json()) == found.result


def test_the_error_of_the_predictions_is_reported(files: ModelFiles) -> None:
    found = tuned(files, plausible)
    accuracy = found.result.accuracy
    assert accuracy is not None
    others = [arm for arm in found.result.arms if arm.runs_tok_s and not arm.default]
    caches = [p for p in found.result.presets if p.measured and p.key != "balanced"]
    assert accuracy.arms == len(others) + len(caches)
    assert accuracy.median_error is not None
    assert accuracy.worst_error is not None
    assert 0 <= accuracy.median_error <= accuracy.worst_error
    default = found.result.arms[0]
    assert default.decode_tok_s is not None
    assert default.predicted_tok_s is not None
    first = abs(default.predicted_tok_s - default.decode_tok_s.middle) / default.decode_tok_s.middle
    assert accuracy.uncalibrated_error == pytest.approx(first)


def test_what_the_defaults_gain_while_the_cache_learns_is_no_error_of_the_model() -> None:
    """The first answers are given by a colder cache than all that follow."""

    def arm(name: str, predicted: float, measured: float) -> ArmRecord:
        run = Run((1, 2), (1 / measured,), 0.1, 0.9, 1.0, 1e8, 1 << 30, 1 << 30, 0.0)
        return ArmRecord(name, {}, name == "defaults", predicted, runs=[run])

    found = accuracy([arm("defaults", 3.0, 5.0), arm("a", 4.4, 5.5), arm("b", 4.0, 4.0)], 4.0)
    assert found is not None
    assert found.median_error == pytest.approx(0.125)  # exact for a; for b 5.0 instead of 4.0
    assert found.worst_error == pytest.approx(0.25)
    assert found.uncalibrated_error == pytest.approx(0.4)


def by_cache(settings: Settings) -> float:
    """Half a cache is half as fast."""
    cache = settings["cache_bytes"] or CACHE
    return 0.2 * CACHE / cache if cache < CACHE else 0.2


def test_the_presets_with_less_cache_are_measured_and_not_guessed(files: ModelFiles) -> None:
    found = tuned(files, by_cache, cache_bytes=CACHE)
    presets = {preset.key: preset for preset in found.result.presets}
    assert presets["light"].measured
    assert presets["light"].expected_tok_s == pytest.approx(2.5 / 1.3, rel=0.1)  # as by_cache says of half, 3 prompts
    sizes = [run["cache_bytes"] or CACHE for run in found.bench.runs]
    assert sizes == sorted(sizes, reverse=True)  # largest first: nothing has to be read anew


def test_a_cache_made_small_on_purpose_is_given_up_for_the_automatic_one(
    files: ModelFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_memory(files, EngineSettings(), memory_available())
    monkeypatch.setattr(
        "autotune.baseline.plan_memory", lambda *_: replace(plan, streaming=True, cache_bytes=4 * plan.layer_bytes)
    )
    small = EngineSettings(cache_bytes=plan.layer_bytes)

    def speed(settings: Settings) -> float:
        return 0.4 if settings["cache_bytes"] == plan.layer_bytes else 0.2

    found = tuned(files, speed, small, cache_bytes=plan.layer_bytes)
    assert found.result.chosen["cache_bytes"] is None
    assert all(run["cache_bytes"] is not None for run in found.bench.runs)  # the bench was loaded with the small one
    assert all(preset.settings["cache_bytes"] != plan.layer_bytes for preset in found.result.presets)


SMALL_BATCH = EngineSettings(ubatch=16, lookahead=1, context_length=2048, cache_bytes=1 << 20)
SLOW_PROMPTS: dict[str, Any] = {"drive": SLOWEST_DRIVE, "cache_bytes": 1 << 20, "read_bytes": 3e5}


def slow_steps(settings: Settings, tokens: int) -> float:
    """Every step of a prompt costs a second: the experts are read anew."""
    return -(-tokens // int(settings["ubatch"])) + 0.01 * tokens


def test_small_prompt_batches_are_found_out_by_whole_turns(files: ModelFiles) -> None:
    found = tuned(files, lambda s: plausible(s) / 3, SMALL_BATCH, turn_prompt_s=slow_steps, **SLOW_PROMPTS)
    assert found.result.chosen["ubatch"] >= 256
    assert "prompts are computed" in found.result.reason
    arm = next(a for a in found.result.arms if a.settings.get("ubatch") == found.result.chosen["ubatch"])
    assert arm.state is ArmState.CHOSEN
    assert arm.identical
    assert found.bench.now <= 181


def test_a_prompt_batch_that_runs_out_of_memory_is_a_result(files: ModelFiles) -> None:
    def crash(settings: Settings) -> None:
        if settings["ubatch"] > 16:
            raise BenchCrashedError("it ran out of memory and was ended by the system")

    found = tuned(files, lambda s: plausible(s) / 3, SMALL_BATCH, turn_prompt_s=slow_steps, fault=crash, **SLOW_PROMPTS)
    assert "ubatch" not in found.result.chosen
    (crashed,) = [arm for arm in found.result.arms if arm.state is ArmState.CRASHED]
    assert "out of memory" in (crashed.error or "")
    assert found.events[-1].phase is Phase.DONE


def test_every_arm_and_the_defaults_answered_the_same_prompts_the_same_way(files: ModelFiles) -> None:
    found = tuned(files, plausible)
    assert all(arm.identical for arm in found.result.arms if arm.runs_tok_s)


def test_a_budget_that_is_too_short_to_measure_anything_is_refused(files: ModelFiles) -> None:
    with pytest.raises(ValueError, match="at least"):
        tuned(files, plausible, budget_s=5)


def test_the_first_answers_are_repeated_until_the_cache_has_settled(files: ModelFiles) -> None:
    """Else the arm that is measured later passes for faster, and the predictions are those of a cold cache."""
    warming = SimulatedBench(plausible, read_bytes=4e8)
    run = warming.run

    def warmer(*args: Any) -> Any:
        found = run(*args)
        warming.read_bytes = max(1e8, 0.92 * warming.read_bytes)  # a quarter less each time around
        return found

    warming.run = warmer  # type: ignore[method-assign]
    steady = SimulatedBench(plausible)
    first = []
    for bench in (warming, steady):
        tune(files, EngineSettings(), bench=bench, probe=probes_of(bench, FAST_DRIVE), clock=bench.clock)
        first.append(next(i for i, settings in enumerate(bench.runs) if settings != EngineSettings().model_dump()))
    assert first == [3 * 3 + 1, 3 * 2 + 1]  # the defaults' first run of the race is the one more
