"""What a model's experts were used for is remembered between sessions, and never lost or mixed up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.census import Census, CensusError, CensusFile, fingerprint
from engine.gguf import open_model


def census_file(folder: Path) -> CensusFile:
    return CensusFile(folder, "abc", 2, 3)


def test_counts_survive_the_session(tmp_path: Path) -> None:
    census_file(tmp_path / "census").save([1, 0, 2, 0, 0, 7])
    assert census_file(tmp_path / "census").load().uses == (1, 0, 2, 0, 0, 7)
    assert [path.name for path in (tmp_path / "census").iterdir()] == ["abc.json"]


def test_saving_twice_counts_once(tmp_path: Path) -> None:
    """The engine saves every so often with its counts since the start; they must not be added again."""
    session = census_file(tmp_path)
    session.save([1, 0, 0, 0, 0, 0])
    session.save([1, 0, 0, 0, 0, 0])
    session.save([3, 0, 0, 0, 1, 0])
    assert session.load().uses == (3, 0, 0, 0, 1, 0)


def test_two_sessions_add_up(tmp_path: Path) -> None:
    one, other = census_file(tmp_path), census_file(tmp_path)
    one.save([1, 0, 0, 0, 0, 0])
    other.save([0, 5, 0, 0, 0, 0])
    one.save([2, 0, 0, 0, 0, 0])
    assert census_file(tmp_path).load().uses == (2, 5, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[1, 2]",
        b'{"version": 1, "n_layers": 2, "n_experts": 3, "uses": [1, 2, 3]}',
        b'{"version": 1, "n_layers": 2, "n_experts": 3, "uses": [1, 2, 3, 4, 5, -6]}',
        b'{"version": 1, "n_layers": 2, "n_experts": 3, "uses": [1, 2, 3, 4, 5, true]}',
        b'{"version": 9, "n_layers": 2, "n_experts": 3, "uses": [1, 2, 3, 4, 5, 6]}',
        b'{"version": 1, "n_layers": 3, "n_experts": 2, "uses": [1, 2, 3, 4, 5, 6]}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_census_is_put_aside_and_counting_goes_on(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "abc.json").write_bytes(content)
    session = census_file(tmp_path)
    assert session.load() == Census.empty(2, 3)
    assert (tmp_path / "abc.json.damaged").read_bytes() == content
    session.save([0, 0, 0, 0, 0, 4])
    assert session.load().uses == (0, 0, 0, 0, 0, 4)


def test_a_crash_while_writing_keeps_the_old_census(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    census_file(tmp_path).save([1, 2, 3, 4, 5, 6])

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    session = census_file(tmp_path)
    with pytest.raises(CensusError, match="No space left"):
        session.save([9, 9, 9, 9, 9, 9])
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["abc.json"]
    assert session.load().uses == (1, 2, 3, 4, 5, 6)
    session.save([9, 9, 9, 9, 9, 9])
    assert session.load().uses == (10, 11, 12, 13, 14, 15)


def test_the_most_used_experts_come_first() -> None:
    assert Census(1, 4, (2, 0, 9, 2)).by_popularity() == [2, 0, 3]


def test_a_moved_model_keeps_its_fingerprint_and_another_has_another(demo_model: Path, tmp_path: Path) -> None:
    mine = fingerprint(open_model(demo_model))
    moved = tmp_path / "renamed.gguf"
    data = bytearray(demo_model.read_bytes())
    moved.write_bytes(data)
    assert fingerprint(open_model(moved)) == mine
    data[-1] ^= 1
    moved.write_bytes(data)
    assert fingerprint(open_model(moved)) != mine


def test_an_empty_session_writes_nothing(tmp_path: Path) -> None:
    census_file(tmp_path / "census").save([0] * 6)
    assert not (tmp_path / "census").exists()
    census_file(tmp_path).save([1] + [0] * 5)
    assert json.loads((tmp_path / "abc.json").read_text())["version"] == 1
