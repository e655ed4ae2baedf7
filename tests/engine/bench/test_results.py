"""Slices of a long measurement are written and merged: a lost or misread line loses minutes of measuring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.bench.results import DriveRecord, MachineRecord, Origin, Record, append, read
from engine.errors import GannetError
from tests.engine.bench.records import run_of

RECORDS: list[Record] = [
    MachineRecord(Origin("cache", "", "M"), {"cores": "2", "memory": "24 GiB"}),
    DriveRecord(Origin("drive"), 4096, 8, 1.5e9, True),
    run_of("ours", tokens=(1, 2), answers=((5.5, 100),), settings={"ubatch": 4}, notes=("a line",), oom_kills=0),
]


def test_what_is_written_is_read_back_and_slices_are_merged(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    for record in RECORDS[:2]:
        append(one, record)
    append(other, RECORDS[2])
    assert read([one, other]) == RECORDS


def test_a_figure_of_a_later_version_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append(path, RECORDS[1])
    path.write_text(json.dumps(json.loads(path.read_text()) | {"temperature": 40}) + "\n")
    assert read([path]) == [RECORDS[1]]


@pytest.mark.parametrize(
    "line", ["no json", "[1]", '{"kind": "cake"}', '{"kind": "arm"}', '{"kind": "drive", "origin": {}}']
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "broken.jsonl"
    append(path, RECORDS[0])
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(GannetError, match=r"broken\.jsonl, line 2"):
        read([path])


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(GannetError, match="cannot be read"):
        read([tmp_path / "none.jsonl"])
    with pytest.raises(GannetError, match="cannot be written"):
        append(tmp_path / "none" / "r.jsonl", RECORDS[0])
