"""The whole tuning on a simulated machine: at stake are speed, time beyond the budget, and the former settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autotune.result import ArmState, Phase, TuneEvent, TuneResult
from autotune.tuner import TuningFailedError, tune
from autotune.workbench import BenchCrashedError, BenchTimeoutError
from engine.gguf import ModelFiles, open_model
from engine.settings import EngineSettings
from tests.autotune.simulated import FAST_DRIVE, SLOW_DRIVE, SimulatedBench, probes_of
from tests.models import Recipe

Settings = Mapping[str, Any]
BAD = EngineSettings(io_threads=1, lookahead=0, threads=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    from tests.models import build

    return open_model(build(tmp_path_factory.mktemp("model"), Recipe()))


def plausible(settings: Settings) -> float:
    """A machine on which the program's own defaults are about best."""
    seconds = 0.22
    seconds *= {0: 1.4, 1: 1.0, 2: 1.05, 3: 1.15}.get(settings["lookahead"], 1.2)
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

    found = tuned(files, slow, drive=SLOW_DRIVE, prompts=1, prompt_s=20.0)
    assert slow(EngineSettings().model_dump() | found.result.chosen) <= 1.2
    assert any("only 1 of 3" in note for note in found.result.notes)


def test_one_core_is_measured_with_one_thread_only(files: ModelFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.tuner.available_cores", lambda: 1)
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
    assert found.result.accuracy is not None
    assert found.result.accuracy.arms == sum(bool(arm.runs_tok_s) for arm in found.result.arms)


def test_every_arm_and_the_defaults_answered_the_same_prompts_the_same_way(files: ModelFiles) -> None:
    found = tuned(files, plausible)
    assert all(arm.identical for arm in found.result.arms if arm.runs_tok_s)


def test_a_budget_that_is_too_short_to_measure_anything_is_refused(files: ModelFiles) -> None:
    with pytest.raises(ValueError, match="at least"):
        tuned(files, plausible, budget_s=5)
