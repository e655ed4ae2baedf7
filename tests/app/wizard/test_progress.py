"""What the wizard understands of the tuner's events; the tuner's own types make them, so that the two cannot drift."""

from __future__ import annotations

import math
from typing import Any

import pytest

from app.wizard.progress import TuneProgress, chosen_arm, gain, to_keep
from app.wizard.tune_tab import result_words
from autotune.result import Arm, ArmState, DrivePoint, Fingerprint, Interval, Phase, Preset, TuneEvent, TuneResult

DRIVE = DrivePoint(
    read_bytes=524288, queue_depth=8, bytes_s=2.1e9, p50_ms=1.0, p95_ms=2.0, p99_ms=3.0, direct=True
)  # fmt: skip


def interval(middle: float) -> Interval:
    return Interval(middle=middle, low=middle * 0.9, high=middle * 1.1, count=4)


ARMS = (
    Arm(name="defaults", default=True, state=ArmState.KEPT, runs_tok_s=(4.4, 4.6), decode_tok_s=interval(4.5)),
    Arm(
        name="12 I/O threads", settings={"io_threads": 12}, state=ArmState.CHOSEN, runs_tok_s=(5.2, 5.4),
        decode_tok_s=interval(5.3), ratio=interval(1.18), hit_rate=0.9,
    ),
    Arm(name="larger cache", state=ArmState.CRASHED, error="out of memory"),
)  # fmt: skip
RESULT = TuneResult(
    chosen={"io_threads": 12}, chosen_arm="12 I/O threads", reason="More read threads keep the drive busy.", arms=ARMS,
    presets=(
        Preset(
            key="light", title="Light", summary="", settings={"cache_bytes": 10}, expected_tok_s=None,
            memory_bytes=None, measured=False,
        ),
    ),
    drive=(DRIVE,), fingerprint=Fingerprint(machine={}, model={}, engine={}, digest="abc"), engine_version="0",
    model_path="/m.gguf", started="2026-01-01T00:00:00Z", seconds=10, budget_s=60,
)  # fmt: skip


def event(**fields: Any) -> dict[str, Any]:
    return TuneEvent(**{"fraction": 0.5, "message": "m", "elapsed_s": 1.0, **fields}).model_dump(mode="json")


def test_the_tuners_events_become_a_picture() -> None:
    progress = TuneProgress()
    progress.take(event(phase=Phase.PROBE, drive=DRIVE, probe="drive", value="2.1 GB/s", remaining_s=30))
    progress.take(event(phase=Phase.MEASURE, fraction=0.7, arms=ARMS))
    assert progress.measured == [("drive", "2.1 GB/s")] and progress.drive[0].queue_depth == 8
    assert [(one.name, one.state) for one in progress.arms] == [
        ("defaults", "kept"), ("12 I/O threads", "chosen"), ("larger cache", "crashed"),
    ]  # fmt: skip
    assert progress.arms[1].middle == 5.3 and math.isnan(progress.arms[2].middle) and not progress.arms[2].measured
    assert progress.fraction == 0.7 and progress.remaining_s is None and not progress.ended


def test_the_result_is_kept_in_a_form_that_presets_and_estimates_use() -> None:
    progress = TuneProgress()
    progress.take(event(phase=Phase.DONE, fraction=1.0, result=RESULT))
    assert progress.ended and progress.result is not None
    kept = to_keep(progress.result, cache_bytes=123)
    assert kept["presets"] == {"light": {"cache_bytes": 10}, "balanced": {"io_threads": 12}}
    assert (kept["tokens_per_s"], kept["hit_rate"], kept["cache_bytes"]) == (5.3, 0.9, 123)
    assert (kept["drive_rate"], kept["fingerprint"]) == (2.1e9, "abc")
    assert gain(progress.result) == pytest.approx(1.18)
    heading, sentence = result_words(progress.result, "")
    assert heading == "18 % faster than the defaults" and sentence.startswith("More read threads")


def test_defaults_that_win_are_said_to_be_best() -> None:
    result = RESULT.model_copy(update={"chosen": {}, "chosen_arm": "defaults"}).model_dump(mode="json")
    assert result_words(result, "")[0] == "The defaults are the best here"
    assert chosen_arm(result)["default"] is True


def test_progress_never_goes_back_and_odd_events_do_no_harm() -> None:
    progress = TuneProgress()
    progress.take(event(phase=Phase.MEASURE, fraction=0.6))
    progress.take({"phase": "measure", "fraction": 0.2, "drive": {"queue_depth": "x"}, "arms": [3, {}]})
    progress.take({})
    assert progress.fraction == 0.6 and progress.drive == [] and progress.arms == ()


def test_a_failure_tells_why() -> None:
    progress = TuneProgress()
    progress.take(event(phase=Phase.FAILED, error="the drive went away"))
    assert result_words(progress.result, progress.error) == ("Measuring did not finish", "the drive went away")
