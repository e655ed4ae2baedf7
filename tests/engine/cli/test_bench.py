"""`gannet bench` from the command line: the demo model, both ways, in a few seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine import cli
from engine.bench.results import ArmRecord, MachineRecord, of_kind, read
from engine.bench.suites import SUITES
from engine.cli.bench import shortened
from tests.engine.cli.conftest import Gannet


def test_two_ways_run_in_turn_and_write_the_same(gannet: Gannet, demo_model: Path, tmp_path: Path) -> None:
    kept, page = tmp_path / "runs.jsonl", tmp_path / "page.md"
    short = ("--suite", "cache", "--cache", "25%", "--pairs", "1", "--tokens", "6", "--prompt-tokens", "12")
    process = gannet("bench", demo_model, *short, "--results", kept, "--limit", "1G")
    assert process.returncode == 0, process.stderr
    assert "share of the roofline" in process.stdout
    records = read([kept])
    stock, ours = of_kind(records, ArmRecord)
    assert len(of_kind(records, MachineRecord)) == 1
    assert (stock.plain, ours.plain) == (True, False)
    assert stock.tokens == ours.tokens and len(ours.tokens) == 6
    assert ours.decode_tok_s and ours.hit_rate is not None and ours.prompt_read_bytes and ours.rss_peak_bytes
    assert ours.prompt_distinct_bytes and ours.prompt_distinct_bytes <= ours.prompt_read_bytes * 1.001
    assert ours.limit_bytes is not None or any("without the memory limit" in note for note in ours.notes)

    merged = gannet("bench", "--report", kept, "--markdown", page)
    assert merged.returncode == 0, merged.stderr
    assert "gannet 25%" in page.read_text() and "| yes |" in page.read_text()


def test_memory_and_speed_of_a_long_answer_are_told_by_block(gannet: Gannet, demo_model: Path, tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    short = ("--suite", "long-answer", "--cache", "25%", "--tokens", "41", "--limit", "0", "--results", kept)
    process = gannet("bench", demo_model, *short)
    assert process.returncode == 0, process.stderr
    [run] = of_kind(read([kept]), ArmRecord)  # one, whatever --pairs says
    assert len(run.blocks) == 10
    assert all(speed > 0 and nbytes > 1 << 20 for speed, nbytes in run.blocks)
    slowest, fastest = min(speed for speed, _ in run.blocks), max(speed for speed, _ in run.blocks)
    assert slowest <= 40 / sum(run.token_s) <= fastest


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--pairs", "0"], "--pairs"),
        (["--only", "cake"], "--only: the suite cache has 'llama.cpp in memory'"),
        (["--cache", "much"], "'much' is not a size"),
        (["--report", "none.jsonl"], "none.jsonl"),
    ],
)
def test_wrong_arguments_are_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    assert cli.main(["bench", *arguments]) == 2
    shown = capsys.readouterr().err
    assert says in shown and shown.count("\n") == 1


def test_a_different_text_is_exit_code_1(gannet: Gannet, tmp_path: Path, run_lines: Callable[..., str]) -> None:
    kept = tmp_path / "runs.jsonl"
    kept.write_text(run_lines((1, 2), (1, 3)))
    process = gannet("bench", "--report", kept)
    assert process.returncode == 1
    assert "not every run wrote the tokens" in process.stderr


@pytest.fixture
def run_lines() -> Callable[..., str]:
    from engine.bench.results import to_line
    from tests.engine.bench.records import run_of

    def lines(stock: tuple[int, ...], ours: tuple[int, ...]) -> str:
        runs = [run_of("llama.cpp in memory", plain=True, tokens=stock), run_of("gannet 4000MiB", tokens=ours)]
        return "".join(to_line(run) + "\n" for run in runs)

    return lines


def test_a_shorter_measurement_still_counts_a_token() -> None:
    suite = shortened(SUITES["scale"], 4)
    assert suite.tokens == 4 and suite.warm_tokens == 2
    assert all((arm.tokens or 4) <= 4 and (arm.warm_tokens or 0) <= 2 for arm in suite.arms)
