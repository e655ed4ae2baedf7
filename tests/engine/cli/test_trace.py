"""`gannet trace` writes a file that the simulator reads, and says clearly what is wrong when it cannot."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli import main
from engine.trace.format import load
from engine.trace.recorder import Recorder

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


def test_what_was_recorded_before_an_interrupt_is_kept(
    demo_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl+C mostly arrives in llama.cpp's callback, in the middle of a token: that token is left out."""
    seen = 0

    def observe(self: Recorder, pointer: int, ask: bool) -> bool:
        nonlocal seen
        seen += not ask
        if seen == 5 * 16 + 3:  # of each token two nodes of eight layers are looked at
            raise KeyboardInterrupt
        return look(self, pointer, ask)

    look = Recorder.observe
    monkeypatch.setattr(Recorder, "observe", observe)
    out = tmp_path / "t.npz"
    assert main(["trace", str(demo_model), "--threads", "1", "--prompt", "Hello", "--out", str(out)]) == 0
    assert int(load(out).decoded.sum()) == 4
    assert "4 decoded tokens" in capsys.readouterr().err
