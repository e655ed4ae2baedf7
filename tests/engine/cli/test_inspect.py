"""`gannet inspect MODEL`: plain words, or JSON for programs; a bad file is one line and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main


def test_plain_words_on_stdout(demo_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(demo_model)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Model        Demo MoE (qwen3moe)")
    assert all(len(line) <= 113 for line in out.splitlines())
    assert err == ""


def test_json_is_one_object(demo_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(demo_model), "--json", "--cache", "25%"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_expert"] == 32
    assert facts["cached_share"] == pytest.approx(0.25, abs=0.01)


def test_a_bad_file_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"<!DOCTYPE html>")
    assert main(["inspect", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"gannet: {path}: this is not a GGUF model: it is a web page")
