"""One run of an arm on the demo model, in this process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.bench.measuring import Task, measure


def test_a_run_that_idles_first_has_read_what_another_text_used(
    demo_model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GANNET_HOME", str(tmp_path))
    at_once = Task(str(demo_model), prompt_tokens=12, tokens=4, warm_tokens=0, cache="75%", settings={"threads": 1})
    cold, warmed = measure(at_once), measure(replace(at_once, idle_s=1.0))
    assert warmed["tokens"] == cold["tokens"]
    assert warmed["prompt_read_bytes"] < 0.7 * cold["prompt_read_bytes"]
    assert warmed["prompt_distinct_bytes"] == cold["prompt_distinct_bytes"]
    assert not list(tmp_path.rglob("*.json")), "the user's own census stays as it is"
