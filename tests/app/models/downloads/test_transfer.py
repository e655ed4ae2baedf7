"""Downloading one file: what a user loses when it fails is hours of waiting, or a model that is silently broken."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.models.downloads.errors import DownloadError, Reason
from app.models.downloads.listing import RemoteFile
from app.models.downloads.transfer import RESERVE_BYTES, Conditions, Wanted, check_space, fetch
from tests.app.models.downloads.hub_stand_in import COMMIT, REPOSITORY, StandIn, serving

CONTENT = bytes(range(256)) * 20_000
NAME = "little-Q4_K_M.gguf"


@pytest.fixture
def hub() -> Iterator[StandIn]:
    with serving(StandIn({NAME: CONTENT})) as stand_in:
        yield stand_in


def wanted(folder: Path, sha256: str | None = None) -> Wanted:
    sha256 = sha256 or hashlib.sha256(CONTENT).hexdigest()
    return Wanted(REPOSITORY, COMMIT, RemoteFile(NAME, len(CONTENT), sha256), folder / NAME)


def conditions(hub: StandIn, **changes: object) -> Conditions:
    waits: list[float] = []
    values = {"endpoint": hub.url, "sleep": waits.append, "stall_s": 5.0, "free_bytes": lambda folder: 1 << 40}
    return Conditions(**{**values, **changes})  # type: ignore[arg-type]


def ignore(done: int, phase: str) -> None:
    pass


def test_broken_connections_cost_nothing_but_the_missing_bytes(hub: StandIn, tmp_path: Path) -> None:
    """A line that breaks twice is continued from the byte it broke at, not begun again."""
    hub.drop_after = [1_000_000, 2_000_000]
    fetch(wanted(tmp_path), ignore, conditions(hub))
    assert (tmp_path / NAME).read_bytes() == CONTENT
    starts = [int(asked.removeprefix("bytes=").partition("-")[0]) for asked in hub.requested]
    assert starts[0] == 0
    assert 0 < starts[1] <= 1_000_000 < starts[2] <= 3_000_000


def test_what_an_earlier_run_left_is_continued(hub: StandIn, tmp_path: Path) -> None:
    """After a restart of the program the first half is not loaded again."""
    task = wanted(tmp_path)
    task.part.write_bytes(CONTENT[:3_000_000])
    phases: list[tuple[int, str]] = []
    fetch(task, lambda done, phase: phases.append((done, phase)), conditions(hub))
    assert hub.requested == [f"bytes=3000000-{len(CONTENT) - 1}"]
    assert ("check" in dict(phases).values()) and phases[-1] == (len(CONTENT), "load")
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert not task.part.exists()


def test_a_damaged_beginning_is_noticed(hub: StandIn, tmp_path: Path) -> None:
    """Bytes spoilt on the disk between two runs must not become a model that answers nonsense."""
    task = wanted(tmp_path)
    task.part.write_bytes(b"\0" * 3_000_000)
    with pytest.raises(DownloadError) as caught:
        fetch(task, ignore, conditions(hub))
    assert caught.value.reason is Reason.WRONG_HASH
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_hash_never_becomes_a_model(hub: StandIn, tmp_path: Path) -> None:
    with pytest.raises(DownloadError) as caught:
        fetch(wanted(tmp_path, "0" * 64), ignore, conditions(hub))
    assert caught.value.reason is Reason.WRONG_HASH
    assert not (tmp_path / NAME).exists()


def test_a_silent_line_is_given_up_and_taken_up_again(hub: StandIn, tmp_path: Path) -> None:
    """A server that stops sending without hanging up does not hold the download for ever."""
    hub.stall_after = [500_000]
    fetch(wanted(tmp_path), ignore, conditions(hub, stall_s=0.3))
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_a_line_that_stays_silent_is_reported_and_the_part_kept(hub: StandIn, tmp_path: Path) -> None:
    hub.stall_after = [500_000, 0, 0, 0]
    task = wanted(tmp_path)
    with pytest.raises(DownloadError) as caught:
        fetch(task, ignore, conditions(hub, stall_s=0.2, attempts=3))
    assert caught.value.reason is Reason.STALLED
    assert task.part.stat().st_size == 500_000


def test_a_server_that_ignores_ranges_starts_over_instead_of_spoiling_the_file(hub: StandIn, tmp_path: Path) -> None:
    hub.ranges, hub.drop_after = False, [1_000_000]
    fetch(wanted(tmp_path), ignore, conditions(hub))
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_a_busy_server_is_asked_again(hub: StandIn, tmp_path: Path) -> None:
    hub.answers = [503, 429]
    fetch(wanted(tmp_path), ignore, conditions(hub))
    assert len(hub.requested) == 3


@pytest.mark.parametrize(
    ("status", "reason"), [(404, Reason.NOT_FOUND), (403, Reason.NEEDS_LOGIN), (418, Reason.SERVER)]
)
def test_refusals_are_told_at_once(hub: StandIn, tmp_path: Path, status: int, reason: Reason) -> None:
    hub.answers = [status]
    with pytest.raises(DownloadError) as caught:
        fetch(wanted(tmp_path), ignore, conditions(hub))
    assert caught.value.reason is reason
    assert len(hub.requested) == 1


def test_large_files_are_asked_for_in_windows(hub: StandIn, tmp_path: Path) -> None:
    """Files over 50 GB are not served in one request."""
    fetch(wanted(tmp_path), ignore, conditions(hub, window_bytes=2_000_000))
    assert [asked.partition("=")[2] for asked in hub.requested] == [
        "0-1999999",
        "2000000-3999999",
        f"4000000-{len(CONTENT) - 1}",
    ]
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_a_disk_that_fills_up_stops_the_download_and_keeps_the_part(hub: StandIn, tmp_path: Path) -> None:
    """Somebody else fills the disk while we load: say how much is missing, and go on later."""
    free = iter([10 * RESERVE_BYTES, 10 * RESERVE_BYTES, 1_000_000, 1_000_000])
    task = wanted(tmp_path)
    with pytest.raises(DownloadError) as caught:
        fetch(task, ignore, conditions(hub, free_bytes=lambda folder: next(free), space_check_bytes=1_000_000))
    assert caught.value.reason is Reason.NO_SPACE
    assert int(caught.value.detail) > 0
    assert 0 < task.part.stat().st_size < len(CONTENT)


def test_a_full_disk_is_noticed_before_the_first_byte(tmp_path: Path) -> None:
    task = wanted(tmp_path)
    task.part.write_bytes(CONTENT[:1_000_000])
    with pytest.raises(DownloadError) as caught:
        check_space([task], Conditions(free_bytes=lambda folder: 1_000_000))
    assert caught.value.reason is Reason.NO_SPACE
    assert int(caught.value.detail) == len(CONTENT) - 1_000_000 + RESERVE_BYTES - 1_000_000


def test_a_new_version_on_the_hub_does_not_continue_the_old_bytes(hub: StandIn, tmp_path: Path) -> None:
    old = wanted(tmp_path, "1" * 64)
    old.part.write_bytes(b"old version")
    other = tmp_path / "other.gguf.11111111.part"
    other.write_bytes(b"another download in the same folder")
    fetch(wanted(tmp_path), ignore, conditions(hub))
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert not old.part.exists() and other.exists()
