"""The tuner and the real engine on a drive that is slowed down: the figures must say where the time goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import engine.streaming
from autotune.control import Control
from autotune.replies import Census, Loaded, Prepared, Run, Turned
from autotune.result import ArmState
from autotune.tuner import tune
from autotune.worker import Worker
from engine.gguf import open_model
from engine.native import _native
from engine.settings import EngineSettings
from tests.autotune.simulated import SLOW_DRIVE, SimulatedBench, probes_of
from tests.models import Recipe

SETTINGS = EngineSettings(cache_bytes=1 << 16, context_length=256, ubatch=64, threads=1, io_threads=1, lookahead=0)
NS_PER_MIB = 20_000_000  # 50 MiB/s for each thread that reads


class WorkerHere:
    """A `Bench` without a process of its own, so that the test can slow its drive down."""

    def __init__(self) -> None:
        self._worker = Worker()

    def load(self, path: Path, settings: Mapping[str, Any], control: Control) -> Loaded:
        control.check()
        return self._worker.load(str(path), settings)

    def prepare(self, settings: Mapping[str, Any], limit_s: float, control: Control) -> Prepared:
        control.check()
        return self._worker.prepare(settings, limit_s)

    def run(self, settings: Mapping[str, Any], prompt: int, tokens: int, limit_s: float, control: Control) -> Run:
        control.check()
        return self._worker.run(settings, prompt, tokens, limit_s)

    def turn(
        self, path: Path, settings: Mapping[str, Any], prompt_tokens: int, tokens: int, limit_s: float, control: Control
    ) -> Turned:
        control.check()
        return self._worker.turn(str(path), settings, prompt_tokens, tokens, limit_s)

    def census(self, control: Control) -> Census:
        return self._worker.census()

    def close(self) -> None:
        self._worker.close()


@pytest.fixture
def slow_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    class Throttled:
        ModelSettings = staticmethod(lambda: throttled())

        def __getattr__(self, name: str) -> Any:
            return getattr(_native, name)

    def throttled() -> Any:
        settings = _native.ModelSettings()
        settings.throttle_ns_per_mib = NS_PER_MIB
        return settings

    monkeypatch.setattr(engine.streaming, "_native", Throttled())


@pytest.fixture
def one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that compute are not what is measured here, and on a busy machine they wait for each other."""
    monkeypatch.setattr("autotune.baseline.available_cores", lambda: 1)
    monkeypatch.setattr("engine.loader.compute_threads", lambda save_battery: 1)


@pytest.mark.usefixtures("slow_drive", "one_core")
def test_one_read_thread_on_a_slow_drive_is_found_out_and_more_are_chosen(tiny_model: Callable[[Recipe], Path]) -> None:
    files, unused = open_model(tiny_model(Recipe())), SimulatedBench(lambda settings: 0.0)
    found = tune(files, SETTINGS, budget_s=20, bench=WorkerHere(), probe=probes_of(unused, SLOW_DRIVE, ((1, 0.2),), 1))
    default = found.arms[0]
    assert default.stall_ms_per_token is not None
    assert default.decode_tok_s is not None
    assert default.stall_ms_per_token > 0.5 * 1e3 / default.decode_tok_s.middle
    winner = next(arm for arm in found.arms if arm.state is ArmState.CHOSEN)
    assert winner.settings.get("io_threads", 1) > 1, found.reason
    assert winner.ratio is not None
    assert winner.ratio.middle >= 1.1
    assert "less per token for the drive" in found.reason
    assert all(arm.identical for arm in found.arms if arm.runs_tok_s)
