"""The window follows the engine through a connection that may break: it must miss no state and be flooded by none."""

from __future__ import annotations

import asyncio

from engine.server.event_log import EventLog, LoggedEvent


async def gather(log: EventLog, last_id: int | None, count: int) -> list[LoggedEvent]:
    found = []
    async for event in log.follow(last_id):
        found.append(event)
        if len(found) == count:
            break
    return found


def test_a_follower_resumes_where_it_was() -> None:
    async def run() -> list[LoggedEvent]:
        log = EventLog()
        log.attach(asyncio.get_running_loop())
        for number in range(5):
            log.publish("state", {"n": number})
        following = asyncio.create_task(gather(log, 2, 4))
        await asyncio.sleep(0)
        log.publish("log", {"n": 5})
        return await following

    assert [(event.id, event.data["n"]) for event in asyncio.run(run())] == [(3, 2), (4, 3), (5, 4), (6, 5)]


def test_of_telemetry_only_the_latest_is_replayed() -> None:
    log = EventLog()
    log.publish("telemetry", {"n": 1})
    log.publish("state", {"n": 2})
    log.publish("telemetry", {"n": 3})
    assert [event.data["n"] for event in log.since(0)] == [2, 3]


def test_a_follower_that_reads_nothing_costs_bounded_memory_and_loses_telemetry_first() -> None:
    async def run() -> tuple[int, list[str]]:
        log = EventLog()
        log.attach(asyncio.get_running_loop())
        stream = log.follow(None)
        first = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        for number in range(5000):
            log.publish("telemetry", {"n": number})
        log.publish("state", {"n": "important"})
        await asyncio.sleep(0.05)
        await first
        (queue,) = log._followers
        names = [queue.get_nowait().name for _ in range(queue.qsize())]
        await stream.aclose()  # type: ignore[attr-defined]
        assert not log.followed
        return len(names), names[-1:]

    count, last = asyncio.run(run())
    assert count < 1000 and last == ["state"]
