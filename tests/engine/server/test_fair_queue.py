"""One client with many requests must not keep another one waiting for all of them."""

from __future__ import annotations

from engine.server.fair_queue import FairQueue


def drain(queue: FairQueue[str]) -> list[str]:
    taken = []
    while (item := queue.take()) is not None:
        taken.append(item)
    return taken


def test_clients_take_turns_and_their_own_order_stays() -> None:
    queue: FairQueue[str] = FairQueue()
    for item in ("a1", "a2", "a3", "b1", "c1", "b2"):
        queue.put(item[0], item)
    assert len(queue) == 6 and sorted(queue) == ["a1", "a2", "a3", "b1", "b2", "c1"]
    assert drain(queue) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert len(queue) == 0


def test_a_newcomer_is_served_within_one_round() -> None:
    queue: FairQueue[str] = FairQueue()
    for number in range(100):
        queue.put("busy", f"busy{number}")
    assert queue.take() == "busy0"
    queue.put("new", "new0")
    assert [queue.take(), queue.take()] == ["busy1", "new0"]


def test_an_item_can_leave_the_queue() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.put("a", "a1")
    queue.put("b", "b1")
    assert queue.remove("a1") and not queue.remove("a1")
    assert drain(queue) == ["b1"]
