"""Which download runs, and what survives a restart."""

from __future__ import annotations

from app.models.downloads import state
from app.models.downloads.listing import Listing, RemoteFile, Variant
from app.models.downloads.rate import Rate
from app.models.downloads.state import AT_ONCE, Download, Status

VARIANT = Variant("m-Q4_K_M", "Q4_K_M", (RemoteFile("m-Q4_K_M.gguf", 1000, "ab" * 32),))


def download(number: int) -> Download:
    return state.new_download(Listing(f"o/m{number}", "c", "mit", (VARIANT,)), VARIANT, "/models")


def test_only_so_many_run_at_once_and_the_oldest_waits_least() -> None:
    waiting = [download(number) for number in range(AT_ONCE + 2)]
    running = [state.started(one) for one in waiting[:AT_ONCE]]
    assert state.next_to_start(waiting) == waiting[0]
    assert state.next_to_start(running + waiting[AT_ONCE:]) is None
    assert state.next_to_start([state.paused(running[0]), *running[1:], *waiting[AT_ONCE:]]) == waiting[AT_ONCE]


def test_a_restart_goes_on_with_what_ran_and_leaves_paused_ones_paused() -> None:
    running = state.progressed(state.started(download(1)), 400, "load")
    again = Download.from_json(running.to_json())
    assert (again.status, again.done, again.files) == (Status.WAITING, 400, running.files)
    assert Download.from_json(state.paused(running).to_json()).status is Status.PAUSED


def test_a_wrong_hash_starts_from_nothing_and_other_failures_do_not() -> None:
    running = state.progressed(state.started(download(1)), 400, "load")
    assert state.failed(running, "offline", "").done == 400
    assert state.failed(running, "wrong-hash", "").done == 0


def test_the_rate_follows_the_last_seconds_and_survives_a_step_back() -> None:
    rate = Rate()
    for second in range(30):
        rate.add(float(second), second * 100 if second < 10 else 1000 + (second - 10) * 500)
    assert rate.bytes_per_s == 500
    left = rate.seconds_left(1000 + 19 * 500 + 1000)
    assert left is not None and abs(left - 2.0) < 1e-9
    rate.add(30.0, 0)
    assert rate.bytes_per_s == 0 and rate.seconds_left(10) is None
