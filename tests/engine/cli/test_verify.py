"""`gannet verify` tells whether the promise holds on a user's own model and machine, and tells it if it does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine import cli
from engine.cli import verify
from engine.verification import Recording
from tests.engine.cli.conftest import Gannet
from tests.models import Recipe

QUICK = ("--tokens", "4", "--context", "128", "--threads", "1", "--cache", "20%")


def test_the_same_answers_are_confirmed(tiny_model: Callable[[Recipe], Path], gannet: Gannet) -> None:
    process = gannet("verify", tiny_model(Recipe()), *QUICK)
    assert process.returncode == 0, process.stderr
    assert "the same" in process.stdout


@pytest.mark.parametrize(("token", "says"), [(5, "other logits"), (6, "other tokens")])
def test_a_difference_is_told_and_is_exit_code_1(
    tiny_model: Callable[[Recipe], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    token: int,
    says: str,
) -> None:
    plain = Recording(np.array([1, 5]), np.zeros((1, 8), np.float32))
    streamed = Recording(np.array([1, token]), np.full((1, 8), 0.5, np.float32))
    results = iter([plain, streamed])
    monkeypatch.setattr(verify, "_run_apart", lambda *_: next(results))
    assert cli.main(["verify", str(tiny_model(Recipe()))]) == 1
    out = capsys.readouterr().out
    assert says in out
    assert "position 0: 8 logits differ, by up to 0.5" in out


def test_a_model_that_cannot_run_is_one_line(tmp_path: Path, gannet: Gannet) -> None:
    process = gannet("verify", tmp_path / "missing.gguf")
    assert process.returncode == 2
    assert process.stderr.count("\n") == 1


def test_what_goes_wrong_in_a_run_is_said_once(tiny_model: Callable[[Recipe], Path], gannet: Gannet) -> None:
    process = gannet("verify", tiny_model(Recipe()), "--tokens", "4", "--context", "16")
    assert process.returncode == 2
    assert "stock llama.cpp could not run: the prompt has" in process.stderr
