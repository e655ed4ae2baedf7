"""The figures: a wrong one would explain the machine wrongly."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from app.telemetry.figures import FIGURES, PARTS, figures, memory_parts, token_time
from app.telemetry.recording import CsvRecording

START = {
    "tokens_decoded": 100, "decode_seconds": 20.0, "lookups": 1000, "hits": 900, "late_hits": 50, "misses": 50,
    "bytes_read": 10_000_000, "stall_seconds": 2.0, "dense_seconds": 5.0, "expert_seconds": 10.0,
    "predict_seconds": 1.0, "sample_seconds": 0.5, "queue_demand": 1, "queue_prefetch": 2,
}  # fmt: skip
LATER = {
    "tokens_decoded": 110, "decode_seconds": 22.0, "lookups": 1100, "hits": 980, "late_hits": 60, "misses": 60,
    "bytes_read": 30_000_000, "stall_seconds": 2.5, "dense_seconds": 5.5, "expert_seconds": 10.8,
    "predict_seconds": 1.1, "sample_seconds": 0.6, "queue_demand": 3, "queue_prefetch": 4,
}  # fmt: skip


def test_figures_are_those_of_the_time_between_not_of_the_whole_run() -> None:
    now = figures(START, LATER, seconds=0.1)
    assert now.keys() == {figure.name for figure in FIGURES}
    assert now["tokens_per_s"] == pytest.approx(5.0)
    assert (now["hit_rate"], now["late_rate"], now["miss_rate"]) == pytest.approx((80.0, 10.0, 10.0))
    assert now["stall_ms"] == pytest.approx(50.0)
    assert now["read_rate"] == pytest.approx(200.0)
    assert now["queue"] == 7


def test_an_idle_engine_shows_gaps_and_a_silent_drive() -> None:
    now = figures(LATER, LATER, seconds=0.1)
    assert math.isnan(now["tokens_per_s"]) and math.isnan(now["hit_rate"]) and now["read_rate"] == 0


def test_a_new_model_starts_its_counters_again_without_negative_figures() -> None:
    now = figures(LATER, {"tokens_decoded": 4, "decode_seconds": 1.0, "bytes_read": 1000}, seconds=1.0)
    assert now["tokens_per_s"] == pytest.approx(4.0) and now["read_rate"] == pytest.approx(0.001)


def test_an_engine_without_a_counter_still_has_a_dashboard() -> None:
    assert math.isnan(figures({}, {"lookups": None, "hits": "x"}, seconds=1.0)["hit_rate"])


def test_a_tokens_time_adds_up() -> None:
    parts = token_time(START, LATER)
    assert [part.key for part in parts] == [key for key, *_ in PARTS]
    assert sum(part.share for part in parts) == pytest.approx(1.0)
    assert {part.key: part.milliseconds for part in parts}["experts"] == pytest.approx(80.0)
    assert token_time(LATER, LATER) == ()


def test_the_memory_bar_fills_the_machine_exactly() -> None:
    gauges = {
        "resident_bytes": 1_000, "kv_bytes": 500, "cache_bytes": 4_000, "cache_used_bytes": 3_000,
        "memory_available_bytes": 6_000,
    }  # fmt: skip
    parts = {part.key: part.nbytes for part in memory_parts(gauges, 16_000)}
    assert sum(parts.values()) == 16_000
    assert parts == {"others": 5_500, "model": 1_000, "kv": 500, "cache": 4_000, "free": 5_000}
    assert memory_parts(gauges, 0) == ()


@pytest.mark.parametrize("available", [0, 50_000])
def test_the_memory_bar_survives_contradicting_gauges(available: int) -> None:
    gauges = {"resident_bytes": 9_000, "cache_bytes": 6_000, "memory_available_bytes": available}
    assert all(part.nbytes >= 0 for part in memory_parts(gauges, 16_000))


def test_a_recording_opens_in_a_spreadsheet(tmp_path: Path) -> None:
    recording = CsvRecording(tmp_path / "r.csv")
    recording.add(0.0, {**START, "recall": {"1": 0.8}})
    recording.add(0.1, LATER)
    recording.close()
    with (tmp_path / "r.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["tokens_decoded"] for row in rows] == ["100", "110"] and rows[1]["time_s"] == "0.100"
    assert "recall" not in rows[0]
