"""`gannet trace` writes a file that the simulator reads, and says clearly what is wrong when it cannot."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli import main
from engine.trace.format import load

Gannet = Callable[..., subprocess.CompletedProcess[str]]


def test_a_trace_of_the_demo_model(gannet: Gannet, demo_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "demo.npz"
    done = gannet(
        "trace", demo_model, "--threads", 1, "--tokens", 8, "--prompt", "Hello", "--prompt", "Spell owl.", "--out", out
    )
    assert done.returncode == 0, done.stderr
    assert load(out).decoded.sum() >= 8
    assert "8 layers, 4 of 32 experts" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--tokens", "0", "--prompt", "x"], "--tokens"),
        ([], "--prompt"),
        (["--prompt-file", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_wrong_arguments_are_one_line(
    capsys: pytest.CaptureFixture[str], demo_model: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    assert main(["trace", str(demo_model), "--out", str(tmp_path / "t.npz"), *arguments]) == 2
    shown = capsys.readouterr().err
    assert says in shown
    assert shown.count("\n") == 1
    assert not list(tmp_path.iterdir())
