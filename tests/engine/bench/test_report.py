"""The tables people read: every failure, fallback and difference has to be in them."""

from __future__ import annotations

from engine.bench.report import as_markdown, as_text, tables
from engine.bench.results import DriveRecord, MachineRecord, Origin
from tests.engine.bench.records import run_of

STOCK = run_of("llama.cpp in memory", plain=True, prompt=20, tokens=(1, 2), decode_tok_s=4.0, major_faults=3)
OURS = run_of("gannet 4000MiB", prompt=20, tokens=(1, 2), decode_tok_s=6.0, hit_rate=0.9, limit_bytes=8 << 30)


def text(*records: object) -> str:
    return as_text(tables(list(records)))  # type: ignore[arg-type]


def test_a_suite_shows_its_figures_and_judges_its_claims() -> None:
    shown = text(STOCK, OURS)
    assert "90.0%" in shown
    assert "1.50" in shown and "holds" in shown and "does not hold" not in shown
    assert "Memory limit 8 GiB, page cache included: gannet 4000MiB" in shown
    assert "read up to 3 pages" in shown
    assert "waited per token" not in shown, "a figure that nobody measured has no column"


def test_a_claim_that_fails_is_said_as_plainly() -> None:
    slow = run_of("gannet 4000MiB", prompt=20, tokens=(1, 2), decode_tok_s=4.0)
    assert "1.00      1 pairs  does not hold" in text(STOCK, slow)


def test_another_text_than_llama_cpps_stands_in_the_table() -> None:
    other = run_of("gannet 4000MiB", prompt=20, tokens=(1, 3), decode_tok_s=9.0)
    assert text(STOCK, other).splitlines()[3].endswith("NO")
    assert "not compared" in text(OURS)


def test_runs_at_another_commit_are_another_table() -> None:
    later = run_of("gannet 4000MiB", decode_tok_s=7.0)
    later = type(later)(Origin("cache", "gannet 4000MiB", "Some model", "def", "later"), decode_tok_s=7.0)
    titles = [table.title for table in tables([OURS, later])]
    assert titles == ["Decoding by size of the cache: Some model"] * 2


def test_failures_and_fallbacks_are_lines_below_the_table() -> None:
    killed = run_of("gannet 4000MiB", error="ended by signal 9", notes=("run without the memory limit: no root",))
    shown = text(STOCK, killed)
    assert "gannet 4000MiB failed: ended by signal 9" in shown
    assert "gannet 4000MiB: run without the memory limit: no root" in shown


def test_a_long_run_is_told_answer_by_answer_and_block_by_block() -> None:
    parts = ((7.0, 5 << 30), (8.0, 5 << 30), (9.0, 6 << 30))
    answers, blocks = (
        run_of("gannet 4000MiB", "endurance", answers=parts),
        run_of("gannet", "long-answer", blocks=parts),
    )
    shown = text(answers, blocks)
    assert "gannet 4000MiB, answer by answer" in shown and "gannet, block by block" in shown
    assert shown.count("9.00") == 2 and shown.count("6.000") == 2
    assert "answer by answer" not in text(run_of("llama.cpp in memory", answers=parts[:2]))


def test_the_drive_is_a_table_by_size_and_depth() -> None:
    drive = [DriveRecord(Origin("drive"), 65536, depth, 1e6 * depth * (1 << 20) / 1e6, True) for depth in (1, 8)]
    lines = text(*drive).splitlines()
    assert lines[1].split("  ")[1:] == ["random reads of", "1 at a time, MiB/s", "8 at a time, MiB/s"]
    assert lines[2].split() == ["64", "KiB", "1", "8"]


def test_one_machine_is_described_once_and_two_are_two() -> None:
    one, other = ({"cores": "2"}, {"cores": "4"})
    machines = [MachineRecord(Origin(), facts) for facts in (one, one, other)]
    assert [table.rows for table in tables(machines)] == [(("cores", "2"),), (("cores", "4"),)]


def test_markdown_is_a_heading_and_a_table() -> None:
    page = as_markdown(tables([MachineRecord(Origin(), {"drive": "a|b"})]))
    assert page == "### The machine\n\n| what |  |\n| --- | --- |\n| drive | a\\|b |\n"
