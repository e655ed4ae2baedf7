"""Downloads as the window runs them: several at once, pause, restart, trouble; the hub is one on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.models.downloads.listing import Listing, RemoteFile, Variant, group_variants
from app.models.downloads.queue import DownloadQueue
from app.models.downloads.state import AT_ONCE, Status
from tests.app.models.downloads.hub_stand_in import COMMIT, REPOSITORY, StandIn, serving

FILES = {f"m{number}-Q4_K_M.gguf": bytes([number]) * 600_000 for number in range(4)}
WAIT_MS = 20_000


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandIn]:
    with serving(StandIn(dict(FILES))) as stand_in:
        monkeypatch.setenv("HF_ENDPOINT", stand_in.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-home"))
        yield stand_in


@pytest.fixture
def make_queue(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[], DownloadQueue]]:
    owner = QObject()
    made: list[DownloadQueue] = []

    def make() -> DownloadQueue:
        made.append(DownloadQueue(tmp_path / "downloads.json", owner))
        return made[-1]

    yield make
    for queue in made:
        queue.stop()
    owner.deleteLater()


def listing(hub: StandIn) -> Listing:
    files = [RemoteFile(path, len(content), hub.published_hash(path)) for path, content in hub.files.items()]
    return Listing(REPOSITORY, COMMIT, "mit", group_variants(files))


def variants(hub: StandIn) -> tuple[Variant, ...]:
    return listing(hub).variants


def until(qtbot: QtBot, check: Callable[[], bool]) -> None:
    qtbot.waitUntil(check, timeout=WAIT_MS)


def test_several_models_arrive_and_only_some_load_at_once(
    qtbot: QtBot, hub: StandIn, make_queue: Callable[[], DownloadQueue], tmp_path: Path
) -> None:
    hub.half = True
    queue, arrived = make_queue(), []
    queue.arrived.connect(arrived.append)
    for variant in variants(hub):
        queue.add(listing(hub), variant, tmp_path / "models")
    until(qtbot, lambda: len(hub.requested) == AT_ONCE)
    assert sum(one.status is Status.RUNNING for one in queue.downloads()) == AT_ONCE
    hub.hold.set()
    until(qtbot, lambda: len(arrived) == len(FILES))
    assert {Path(path).read_bytes() for path in arrived} == set(FILES.values())
    assert all(one.status is Status.DONE and one.done == one.total for one in queue.downloads())


def test_pausing_and_going_on_after_a_restart_of_the_program(
    qtbot: QtBot, hub: StandIn, make_queue: Callable[[], DownloadQueue], tmp_path: Path
) -> None:
    """Hours of downloading must survive closing the window."""
    hub.half = True
    queue = make_queue()
    (first, second, *_) = variants(hub)
    held = queue.add(listing(hub), first, tmp_path / "models").key
    running = queue.add(listing(hub), second, tmp_path / "models").key
    until(qtbot, lambda: all(one.done > 0 for one in queue.downloads()))
    queue.pause(held)
    queue.stop()
    hub.hold.set()
    hub.requested.clear()
    again = make_queue()
    states = {one.key: one.status for one in again.downloads()}
    assert states == {held: Status.PAUSED, running: Status.WAITING}
    assert hub.requested == [], "nothing may touch the network before the program says so"
    again.begin()
    until(qtbot, lambda: again.downloads()[1].status is Status.DONE)
    assert hub.requested[0].startswith("bytes=300000-"), "the first half was loaded twice"
    again.resume(held)
    until(qtbot, lambda: again.downloads()[0].status is Status.DONE)


def test_a_broken_connection_in_the_middle_is_only_a_delay(
    qtbot: QtBot, hub: StandIn, make_queue: Callable[[], DownloadQueue], tmp_path: Path
) -> None:
    hub.drop_after = [200_000]
    queue = make_queue()
    key = queue.add(listing(hub), variants(hub)[0], tmp_path / "models").key
    until(qtbot, lambda: queue.downloads()[0].status is Status.DONE)
    download = queue.download(key)
    assert download is not None and Path(download.path).stat().st_size == 600_000
    assert len(hub.requested) == 2


def test_a_failure_is_kept_with_its_reason_and_can_be_tried_again(
    qtbot: QtBot, hub: StandIn, make_queue: Callable[[], DownloadQueue], tmp_path: Path
) -> None:
    path = variants(hub)[0].files[0].path
    right = hub.files[path]
    offered, variant = listing(hub), variants(hub)[0]
    hub.files[path] = b"\xff" * len(right)
    queue = make_queue()
    key = queue.add(offered, variant, tmp_path / "models").key
    until(qtbot, lambda: queue.downloads()[0].status is Status.FAILED)
    assert queue.downloads()[0].reason == "wrong-hash" and queue.downloads()[0].done == 0
    hub.files[path] = right
    queue.resume(key)
    until(qtbot, lambda: queue.downloads()[0].status is Status.DONE)


def test_removing_a_running_download_leaves_no_file_and_no_process(
    qtbot: QtBot, hub: StandIn, make_queue: Callable[[], DownloadQueue], tmp_path: Path
) -> None:
    hub.half = True
    queue = make_queue()
    key = queue.add(listing(hub), variants(hub)[0], tmp_path / "models").key
    until(qtbot, lambda: queue.downloads()[0].done > 0)
    queue.remove(key)
    assert queue.downloads() == () and not [one for one in (tmp_path / "models").rglob("*") if one.is_file()]


def test_a_broken_state_file_is_put_aside(make_queue: Callable[[], DownloadQueue], tmp_path: Path) -> None:
    (tmp_path / "downloads.json").write_text(json.dumps({"version": 1, "downloads": [{"key": 1}]}), encoding="utf-8")
    queue = make_queue()
    assert queue.downloads() == () and "downloads.json.broken" in queue.note
