"""The elastic cache at work: another program takes memory in the middle of an answer, and the words stay the same.

A stand-in tells how much memory is free; everything else is real.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import context_state
from engine.answer import AnswerOptions, Finished, Piece, PromptProgress, answer
from engine.cache_monitor import CacheChange, CacheMonitor
from engine.elastic import CacheBounds
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.memory import MemoryAvailable
from engine.settings import EngineSettings

MIB = 1 << 20
RESERVE = 64 * MIB  # the least that the engine leaves free
SETTINGS = EngineSettings(context_length=512, threads=1, headroom_bytes=0, ubatch=64, census=False)
PATIENCE_SECONDS = 20.0


class Machine:
    """Memory as the model would find it: `total` for the cache and another program, which holds `taken`."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.taken = 0
        self.looks = 0
        self.held: Callable[[], int] = lambda: 0

    def measure(self) -> MemoryAvailable:
        self.looks += 1
        free = self.total - self.taken - self.held()
        return MemoryAvailable(self.total, max(0, free), source="limit of the test")


class FakeCache:
    """A cache that is as full as it may be, but takes no memory."""

    def __init__(self, nbytes: int) -> None:
        self.cache_bytes = self.held_bytes = nbytes

    def resize(self, nbytes: int) -> int:
        self.cache_bytes = self.held_bytes = nbytes
        return nbytes


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.005)


def monitors() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "cache monitor"]


def expert_bytes(path: Path) -> int:
    return sum(expert.tensor.nbytes for expert in open_model(path).experts())


def test_a_shortage_is_answered_within_a_second_and_told() -> None:
    cache, machine, told = FakeCache(100 * MIB), Machine(120 * MIB), list[CacheChange]()
    machine.held = lambda: cache.held_bytes
    monitor = CacheMonitor(cache, CacheBounds(MIB, 100 * MIB, 20 * MIB), machine.measure)
    monitor.on_change = told.append
    monitor.start()
    monitor.start()  # once is enough
    assert len(monitors()) == 1
    wait_until(lambda: machine.looks > 1)
    began = time.monotonic()
    machine.taken = 40 * MIB
    wait_until(lambda: len(told) > 0)
    assert time.monotonic() - began < 1.0
    wait_until(lambda: cache.cache_bytes <= 60 * MIB)
    monitor.stop()
    monitor.stop()
    assert monitors() == []
    assert (told[0].before_bytes, told[0].reason, told[0].source) == (
        100 * MIB, "memory is short", "limit of the test",
    )  # fmt: skip
    assert monitor.state.shrinks == len(told)
    assert monitor.state.reason == "memory is short"


def test_a_look_that_fails_is_not_the_last_one(caplog: pytest.LogCaptureFixture) -> None:
    """Else a server that was out of files for a moment has a cache that never gives memory back again."""
    cache, machine, failures = FakeCache(100 * MIB), Machine(120 * MIB), iter(range(3))
    machine.held = lambda: cache.held_bytes

    def measure() -> MemoryAvailable:
        if next(failures, None) is not None:
            raise OSError(24, "Too many open files")
        return machine.measure()

    monitor = CacheMonitor(cache, CacheBounds(MIB, 100 * MIB, 20 * MIB), measure)
    machine.taken = 40 * MIB
    monitor.start()
    wait_until(lambda: cache.cache_bytes <= 60 * MIB)
    monitor.stop()
    assert [record.message for record in caplog.records].count(
        "the expert cache cannot follow memory for now: [Errno 24] Too many open files"
    ) == 1, "said once, not four times a second"


def test_work_buffers_of_a_prompt_to_come_are_not_the_caches_to_take() -> None:
    cache, machine, other = FakeCache(0), Machine(100 * MIB), [200 * MIB]
    bounds = CacheBounds(MIB, 90 * MIB, 0)
    monitor = CacheMonitor(cache, bounds, machine.measure, 64 * MIB, lambda: cache.held_bytes + other[0])
    assert monitor.ask(bounds) == 36 * MIB
    cache.held_bytes = 0
    other[0] -= 50 * MIB  # the load's leavings are freed: nothing that the prompt would have touched
    assert monitor.ask(bounds) == 36 * MIB
    cache.held_bytes = 0
    other[0] += 64 * MIB  # the prompt has come
    machine.taken = 64 * MIB
    assert monitor.ask(bounds) == 36 * MIB


def test_the_process_itself_is_what_grows() -> None:
    cache, machine = FakeCache(0), Machine(1 << 40)
    bounds = CacheBounds(MIB, 1 << 40, 0)
    monitor = CacheMonitor(cache, bounds, machine.measure, growth_bytes=1 << 39)
    assert monitor.ask(bounds) == 1 << 39
    cache.held_bytes = 0
    buffer = bytearray(b"x") * (256 * MIB)  # far more than other tests' leavings may free meanwhile
    assert 1 << 39 < monitor.ask(bounds) <= (1 << 39) + 2 * len(buffer)


@pytest.fixture
def machine(demo_model: Path) -> Machine:
    return Machine(expert_bytes(demo_model) * 2 + RESERVE)


def loaded_on(machine: Machine, demo_model: Path, **changes: object) -> LoadedModel:
    files = open_model(demo_model)
    settings = SETTINGS.model_copy(update={"cache_bytes": expert_bytes(demo_model), **changes})
    loaded = load(files, settings, measure=machine.measure)
    assert loaded.streamer is not None
    native = loaded.streamer.native
    machine.held = lambda: native.held_bytes
    assert loaded.plan is not None
    machine.total += loaded.plan.compute_bytes
    return loaded


def tokens(
    loaded: LoadedModel,
    on_token: Callable[[int], None] = lambda n: None,
    on_prompt: Callable[[int], None] = lambda done: None,
) -> tuple[int, ...]:
    """Sixty tokens after a prompt of 200; `on_token` and `on_prompt` are called with the number of each, of all."""
    count = 0
    prompt = [int(token) for token in loaded.llama.tokenize(b"Once upon a time there was a fox. " * 25)][:200]
    for event in answer(loaded, prompt, AnswerOptions(max_tokens=60, temperature=0.0, ignore_end=True)):
        if isinstance(event, Piece):
            count += 1
            on_token(count)
        elif isinstance(event, PromptProgress):
            on_prompt(event.done)
        elif isinstance(event, Finished):
            return event.result.tokens
    raise AssertionError("an answer ends with Finished")


def test_a_program_that_takes_memory_and_gives_it_back_changes_no_word(demo_model: Path, machine: Machine) -> None:
    with loaded_on(machine, demo_model, elastic=False) as still:
        expected = tokens(still)
        whole = still.telemetry().cache_bytes
    machine = Machine(expert_bytes(demo_model) * 2 + RESERVE)
    sizes: list[int] = []
    with loaded_on(machine, demo_model) as loaded:
        held: Callable[[], int] = machine.held

        def take_and_give(n: int) -> None:
            if n % 20 == 5:
                before = loaded.telemetry().cache_shrinks
                machine.taken = round(expert_bytes(demo_model) * 1.7)
                wait_until(lambda: loaded.telemetry().cache_shrinks > before)
                sizes.append(held())
            elif n % 20 == 15:
                machine.taken = 0
                loaded.resize_cache(expert_bytes(demo_model))  # does not wait until calm returns

        assert tokens(loaded, take_and_give) == expected
        assert tokens(loaded, take_and_give) == expected
        telemetry = loaded.telemetry()
    assert len(sizes) == 6
    assert max(sizes) < whole // 2  # given back, not only promised
    assert telemetry.cache_shrinks >= 6
    assert telemetry.evictions > 0
    assert monitors() == []


def test_memory_taken_in_the_middle_of_a_prompt_changes_no_word(demo_model: Path, machine: Machine) -> None:
    with loaded_on(machine, demo_model) as loaded:
        expected = tokens(loaded)
        context_state.clear(loaded.llama)
        before = loaded.telemetry()

        def take_after_the_first_batch(done: int) -> None:
            if done == 64:
                machine.taken = round(expert_bytes(demo_model) * 1.7)
                wait_until(lambda: loaded.telemetry().cache_bytes < before.cache_bytes // 2)

        assert tokens(loaded, on_prompt=take_after_the_first_batch) == expected
        after = loaded.telemetry()
        assert after.waves - before.waves > 3 * len(loaded.expert_map().uses)  # of a prompt in a cache this small


def test_a_model_that_nobody_closes_leaves_no_thread(demo_model: Path, machine: Machine) -> None:
    loaded = loaded_on(machine, demo_model)
    assert len(monitors()) == 1
    del loaded
    gc.collect()
    wait_until(lambda: monitors() == [])
