"""The process that holds the model: its answers must be the engine's, its death must be understood."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autotune.control import CancelledError, Control
from autotune.prompts import PROMPTS
from autotune.workbench import BenchCrashedError, BenchRefusedError, ProcessBench, describe_exit
from autotune.worker import SETTLE_TOKENS, serve
from engine.settings import EngineSettings
from tests.models import Recipe

Build = Callable[[Recipe], Path]
SETTINGS = EngineSettings(cache_bytes=1 << 17, context_length=256, ubatch=64, threads=1).model_dump()


def ask(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    replies = io.StringIO()
    serve(io.StringIO("".join(json.dumps(r) + "\n" for r in requests)), replies)
    return [json.loads(line) for line in replies.getvalue().splitlines()]


def test_arms_give_the_same_answers_on_every_prompt_and_are_measured(tiny_model: Build) -> None:
    other = SETTINGS | {"io_threads": 2, "lookahead": 3}
    load = {"do": "load", "path": str(tiny_model(Recipe())), "settings": SETTINGS}
    runs = [
        {"do": "run", "settings": settings, "prompt": prompt, "tokens": 5, "limit_s": 30}
        for prompt in range(len(PROMPTS))
        for settings in (SETTINGS, other)
    ]
    prepare = {"do": "prepare", "settings": SETTINGS, "limit_s": 60}
    loaded, prepared, *found, census = ask(load, prepare, *runs, {"do": "census"})
    assert all(sum(row) > 0 for row in census["uses"])
    assert loaded["streaming"]
    assert prepared["prompts"] == len(PROMPTS)
    for a, b in zip(found[::2], found[1::2], strict=True):
        assert a["tokens"] == b["tokens"]
        assert len(a["tokens"]) == 6
        assert len(a["seconds"]) == 5
        assert all(s > 0 for s in a["seconds"])
    assert len({tuple(r["tokens"]) for r in found}) > 1


def test_an_answer_goes_on_under_other_settings_as_if_nothing_had_happened(tiny_model: Build) -> None:
    """Two settings take turns within one answer to be compared: it must be the answer that one alone gives."""
    load = {"do": "load", "path": str(tiny_model(Recipe())), "settings": SETTINGS}
    prepare = {"do": "prepare", "settings": SETTINGS, "limit_s": 60}
    run = {"do": "run", "settings": SETTINGS, "prompt": 1, "limit_s": 30}
    more = {"do": "go_on", "limit_s": 30, "tokens": 3}
    other = SETTINGS | {"io_threads": 2, "lookahead": 0, "prefetch_depth": 8}
    early, *_, whole, first, second, third = ask(
        more | {"settings": SETTINGS}, load, prepare, run | {"tokens": 11}, run | {"tokens": 3},
        more | {"settings": other}, more | {"settings": SETTINGS},
    )  # fmt: skip
    assert "error" in early
    assert first["tokens"] + second["tokens"] + third["tokens"] == whole["tokens"]
    assert [len(r["seconds"]) for r in (first, second, third)] == [3, 3, 3]


def test_after_a_new_load_there_is_no_answer_to_go_on_with(tiny_model: Build) -> None:
    load = {"do": "load", "path": str(tiny_model(Recipe())), "settings": SETTINGS}
    run = {"do": "run", "settings": SETTINGS, "prompt": 1, "tokens": 3, "limit_s": 30}
    prepare = {"do": "prepare", "settings": SETTINGS, "limit_s": 60}
    *_, late = ask(load, prepare, run, load, {"do": "go_on", "settings": SETTINGS, "tokens": 3, "limit_s": 30})
    assert "no answer" in late["error"]


def test_a_run_ends_at_its_limit_with_what_it_has(tiny_model: Build) -> None:
    *_, run = ask(
        {"do": "load", "path": str(tiny_model(Recipe())), "settings": SETTINGS},
        {"do": "prepare", "settings": SETTINGS, "limit_s": 60},
        {"do": "run", "settings": SETTINGS, "prompt": 0, "tokens": 200, "limit_s": 0.05},
    )
    assert len(run["tokens"]) < 201


def test_settings_that_need_a_new_load_are_measured_too(tiny_model: Build) -> None:
    first, again = ask(
        {"do": "load", "path": str(tiny_model(Recipe())), "settings": SETTINGS},
        {"do": "prepare", "settings": SETTINGS, "limit_s": 60},
        {"do": "run", "settings": SETTINGS, "prompt": 1, "tokens": 4, "limit_s": 30},
        {"do": "run", "settings": SETTINGS | {"ubatch": 32}, "prompt": 1, "tokens": 4, "limit_s": 30},
    )[2:]
    assert again["load_s"] > 0
    assert again["tokens"] == first["tokens"]


def test_a_whole_turn_loads_anew_and_answers_the_same_with_any_prompt_batch(tiny_model: Build) -> None:
    turn = {"do": "turn", "path": str(tiny_model(Recipe())), "prompt_tokens": 100, "tokens": 4, "limit_s": 60}
    small, large = ask(turn | {"settings": SETTINGS | {"ubatch": 16}}, turn | {"settings": SETTINGS | {"ubatch": 128}})
    assert small["tokens"] == large["tokens"]
    for turned in (small, large):
        assert len(turned["seconds"]) == 4
        assert turned["prompt_tok_s"] > 0
        assert turned["load_s"] > 0


def test_a_turn_that_is_cut_says_so_by_having_no_answer(tiny_model: Build) -> None:
    turn = {"do": "turn", "path": str(tiny_model(Recipe())), "prompt_tokens": 200, "tokens": 4, "limit_s": 0.0}
    (cut,) = ask(turn | {"settings": SETTINGS})
    assert cut["tokens"] == []
    assert cut["prompt_tok_s"] == 0


def test_a_cache_of_another_size_is_used_before_it_is_measured(tiny_model: Build) -> None:
    """A run right after the cache grew would pay for filling it."""
    load = {"do": "load", "path": str(tiny_model(Recipe())), "settings": SETTINGS}
    prepare = {"do": "prepare", "settings": SETTINGS, "limit_s": 60}
    run = {"do": "run", "prompt": 0, "tokens": 4, "limit_s": 30}
    grown = SETTINGS | {"cache_bytes": 4 * SETTINGS["cache_bytes"]}
    *_, before, first, second, after = ask(
        load, prepare, {"do": "census"}, run | {"settings": grown}, run | {"settings": grown}, {"do": "census"}
    )
    assert first["tokens"] == second["tokens"]
    assert first["cache_bytes"] > SETTINGS["cache_bytes"]
    computed = (sum(after["uses"][0]) - sum(before["uses"][0])) / 4  # 4 experts a token
    assert computed >= SETTLE_TOKENS + 2 * 4


def test_a_model_that_cannot_be_loaded_is_one_line_and_the_worker_lives(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"not a model")
    load = {"do": "load", "path": str(broken), "settings": SETTINGS}
    first, second = ask(load, {"do": "run", "settings": SETTINGS, "prompt": 0, "tokens": 1, "limit_s": 1})
    assert "broken.gguf" in first["error"]
    assert second["error"] == "no model is loaded"


# ---- the tuner's side


def child(code: str) -> ProcessBench:
    return ProcessBench(lambda: [sys.executable, "-c", code], hang_seconds=30.0)


REPLY = "import sys; sys.stdin.readline(); "


def test_the_real_worker_starts_answers_and_is_gone_after_close(tiny_model: Build) -> None:
    bench = ProcessBench()
    try:
        loaded = bench.load(tiny_model(Recipe()), SETTINGS, Control())
        assert loaded.streaming
        with pytest.raises(BenchRefusedError, match="context_length"):
            bench.load(tiny_model(Recipe()), SETTINGS | {"context_length": -1}, Control())
    finally:
        bench.close()
        bench.close()


def test_a_worker_killed_for_memory_is_told_as_such() -> None:
    bench = child(REPLY + "import os, signal; os.kill(os.getpid(), getattr(signal, 'SIGKILL', signal.SIGTERM))")
    with pytest.raises(BenchCrashedError, match="out of memory" if os.name == "posix" else "ended"):
        bench.load(Path("x"), {}, Control())


def test_a_worker_that_crashes_is_started_again_with_the_next_request() -> None:
    bench = child(REPLY + "sys.exit(3)")
    for _ in range(2):
        with pytest.raises(BenchCrashedError, match="exit code 3"):
            bench.load(Path("x"), {}, Control())


def test_cancelling_a_worker_that_is_busy_takes_less_than_two_seconds() -> None:
    begin = time.perf_counter()
    control = Control(cancelled=lambda: time.perf_counter() - begin > 0.3)
    with pytest.raises(CancelledError):
        child(REPLY + "import time; time.sleep(60)").load(Path("x"), {}, control)
    assert time.perf_counter() - begin < 2.0


def test_a_worker_that_hangs_past_the_deadline_is_ended() -> None:
    control = Control(deadline=time.perf_counter() - 0.8)
    with pytest.raises(BenchCrashedError, match="time"):
        child(REPLY + "import time; time.sleep(60)").load(Path("x"), {}, control)


def test_a_worker_that_ends_by_itself_is_quoted() -> None:
    bench = child(REPLY + "raise AttributeError('no such thing')")
    with pytest.raises(BenchCrashedError, match="AttributeError: no such thing"):
        bench.load(Path("x"), {}, Control())


@pytest.mark.parametrize(
    ("code", "words", "expected"),
    [
        (-9, "", "out of memory"),
        (1, "terminate called after throwing an instance of 'std::bad_alloc'", "out of memory"),
        (-11, "", "signal 11"),
        (7, "", "exit code 7"),
        (None, "", "did not end"),
    ],
)
def test_every_end_of_a_worker_has_words(code: int | None, words: str, expected: str) -> None:
    assert expected in describe_exit(code, words)
