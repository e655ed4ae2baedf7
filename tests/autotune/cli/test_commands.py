"""`gannet tune` and `gannet probe` as a person types them, and the tuner as the service calls it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from autotune.cli import main
from autotune.cli.tune import report
from autotune.result import TuneResult
from engine.settings import EngineSettings
from tests.models import Recipe

Build = Callable[[Recipe], Path]
SMALL = ["--cache", "128KiB", "--context", "256", "--ubatch", "64", "--threads", "1"]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short measurements: what is tested is the way through, not the figures."""
    monkeypatch.setattr("autotune.probes.bandwidth.BUFFER_BYTES", 16 << 20)
    monkeypatch.setattr("autotune.probes.compute.POOL_BYTES", 4 << 20)
    monkeypatch.setattr("autotune.probes.gpu.COPY_SECONDS", 0.02)


def test_a_model_is_tuned_within_the_budget_kept_and_shown(
    tiny_model: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tiny_model(Recipe()))
    assert main(["tune", path, "--budget", "12", "--json", *SMALL]) == 0
    result = TuneResult.model_validate_json(capsys.readouterr().out)
    assert result.seconds < 15
    assert result.arms[0].default
    assert result.reason.endswith(".")
    assert "reason" in result.model_dump()
    assert main(["tune", path, "--show"]) == 0
    assert result.reason in capsys.readouterr().out
    assert result.arms[0].name in report(result)


def test_showing_a_model_never_tuned_says_how_to(tiny_model: Build, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(tiny_model(Recipe())), "--show"]) == 2
    assert "has not been tuned here" in capsys.readouterr().err


def test_bad_usage_is_one_line(tiny_model: Build, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["tune"], ["tune", "missing.gguf"], ["tune", str(tiny_model(Recipe())), "--budget", "1"]):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert error.startswith("gannet: ")
        assert error.count("\n") == 1


def test_the_machine_is_probed_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--only", "memory", "--only", "cores"]) == 0
    shown = capsys.readouterr().out
    assert "Memory: " in shown
    assert "Processor: " in shown


def test_all_figures_of_a_probe_are_json(tiny_model: Build, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", str(tiny_model(Recipe())), "--json", "--only", "memory", "--only", "volume"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["memory"]["result"]["total_bytes"] > 0
    assert found["volume"]["unit"] == ""


def test_the_service_finds_the_tuner_and_gets_every_event_as_json(tiny_model: Build) -> None:
    (point,) = entry_points(group="gannet.tuner", name="tune")
    tune = point.load()
    events: list[Mapping[str, Any]] = []

    def report_event(event: Mapping[str, Any]) -> None:
        json.dumps(event)
        events.append(event)

    settings = EngineSettings(cache_bytes=1 << 17, context_length=256, ubatch=64, threads=1)
    tune(
        tiny_model(Recipe()),
        settings,
        budget_s=10.0,
        report=report_event,
        cancelled=lambda: any(e["phase"] == "plan" for e in events),
    )
    assert events[0]["phase"] == "probe"
    assert events[-1]["phase"] == "cancelled"
    assert events[-1]["result"]["chosen"] == {}
