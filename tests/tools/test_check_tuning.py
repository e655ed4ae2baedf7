"""The check of a tuning: it must not call noise a loss, nor equal settings a measurement."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from autotune.alternation import interval
from autotune.result import Fingerprint, TuneResult
from tools.check_tuning import Checked, main, report, verdict


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ([1.2, 1.3, 1.25, 1.21, 1.28, 1.3], "surely faster"),
        ([1.0, 1.001, 0.999, 1.0, 1.002, 0.998], "surely not below"),
        ([0.8, 0.82, 0.81, 0.83, 0.8, 0.79], "surely below"),
        ([0.8, 1.2, 0.9, 1.1, 1.0, 1.05], "uncertain"),
        ([1.5] * 3, "too few"),
    ],
)
def test_the_verdict_says_no_more_than_the_ratios(ratios: list[float], said: str) -> None:
    assert said in verdict(interval(ratios))


def test_an_answer_that_differs_where_both_have_tokens_is_noticed() -> None:
    found = Checked()
    found.said(0, [1, 2, 3])
    found.said(0, [1, 2])
    assert found.identical
    found.said(0, [1, 9])
    assert not found.identical
    assert report({"lookahead": 1}, Checked(ratios=[1.0], speeds={s: [2.0] for s in found.speeds}))["ratio"] is None


def test_where_nothing_was_chosen_nothing_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = TuneResult(
        chosen={}, chosen_arm="defaults", reason="", arms=(), engine_version="1", model_path="none.gguf", started="",
        seconds=1, budget_s=1, fingerprint=Fingerprint(machine={}, model={}, engine={}, digest=""),
    )  # fmt: skip
    path = tmp_path / "result.json"
    path.write_text(result.model_dump_json(), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["check_tuning", str(path)])
    main()
    said = json.loads(capsys.readouterr().out)
    assert said["same_settings"]
    assert said["ratio"] == 1.0
