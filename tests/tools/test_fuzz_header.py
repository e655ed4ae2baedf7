"""`./dev fuzz`: it must count what it tried, or a run that tried nothing looks like a clean one."""

from __future__ import annotations

import pytest

from tools.fuzz_header import main


def test_it_says_how_many_files_it_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", "40", "--seed", "7"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("seed 7: 40 files in")
    refused, opened = (int(said.split(word)[0].split()[-1]) for word in (" refused", " opened"))
    assert refused + opened == 40
