"""The comparison of the drive probe with fio: what is compared must be the same work."""

from __future__ import annotations

from pathlib import Path

from autotune.facts import ReadRange
from tools.check_drive import Places, read_list, row, whole

PLACES = [ReadRange(0, 100_000 * i + 7, 90_000) for i in range(10)]


def test_fio_gets_whole_blocks_around_every_expert_in_the_files_that_hold_them(tmp_path: Path) -> None:
    paths = [tmp_path / "a.gguf", tmp_path / "b.gguf"]
    lines = read_list(paths, [ReadRange(1, 4097, 10_000)]).splitlines()
    assert lines[0] == "fio version 2 iolog"
    assert [line for line in lines if " read " in line] == [f"{paths[1].resolve()} read 4096 12288"]
    assert all(f"{path.resolve()} {what}" in lines for path in paths for what in ("add", "open", "close"))


def test_no_place_is_read_again_before_all_have_been_read() -> None:
    places, seen = Places(PLACES), []
    for _ in range(5):
        ahead = places.ahead(1e-9)[:1]
        seen += ahead
        places.went(ahead[0].nbytes - ahead[0].nbytes // 2 - 1)  # a read that was cut short is not read again either
    assert len(set(seen)) == 5
    assert places.ahead(100.0)[0] not in seen
    assert len(set(places.ahead(100.0))) == len(PLACES)


def test_a_place_at_the_end_of_the_file_is_left_out_since_fio_takes_a_short_read_for_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(bytes(PLACES[-1].offset + PLACES[-1].nbytes))
    assert whole([path], PLACES) == PLACES[:-1]


def test_the_ratio_is_the_middle_of_the_rounds_and_few_rounds_claim_no_interval() -> None:
    assert row([(1e9, 1e9), (2e9, 1e9), (0.9e9, 1e9)])["ratio"] == 1.0
    assert row([(1e9, 1e9)] * 5)["interval"] is None
    assert row([(0.95e9, 1e9)] * 6)["interval"] == [0.95, 0.95]
