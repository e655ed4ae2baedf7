"""A load that hangs on a dying drive must not take the engine with it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx2 as httpx
import pytest

from engine.errors import LoadCancelledError
from engine.server import model_host
from tests.engine.server.server_process import wait_until
from tests.engine.server.server_thread import KEY, serving


def test_a_stuck_load_is_cancelled_within_two_seconds_and_another_one_works(
    tmp_path: Path, demo_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, release, real_load = threading.Event(), threading.Event(), model_host.load

    def hang(*arguments: object, **options: object) -> object:
        stuck.set()
        release.wait(60)
        return real_load(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(model_host, "load", hang)
    with serving(tmp_path, model_folders=(demo_model.parent,)) as server:
        headers = {"Authorization": f"Bearer {KEY}"}
        with httpx.Client(base_url=server.url, headers=headers, timeout=30) as http:
            assert http.post("/engine/load", json={"model": "demo-moe"}).status_code == 202
            assert stuck.wait(10)
            assert http.get("/health").json()["state"] == "loading"
            assert http.post("/engine/load", json={"model": "demo-moe"}).status_code == 409
            started = time.monotonic()
            assert http.post("/engine/load/cancel").json() == {"done": True}
            assert time.monotonic() - started < 2 and http.get("/health").json()["state"] == "empty"
            monkeypatch.setattr(model_host, "load", real_load)
            body = {"model": "demo-moe", "settings": {"plain": True, "threads": 1, "context_length": 64}}
            assert http.post("/engine/load", json=body).status_code == 202
            wait_until(lambda: http.get("/health").json()["state"] == "ready", "the second load")
            release.set()
            wait_until(lambda: sum(t.name == "engine" for t in threading.enumerate()) == 1, "the stuck thread's end")
            answer = http.post("/v1/completions", json={"prompt": "The fox", "max_tokens": 3, "temperature": 0})
            assert answer.json()["usage"]["completion_tokens"] == 3
            assert http.post("/engine/load/cancel").json() == {"done": False}


def test_a_load_that_listens_is_cancelled_and_closes_what_it_has(
    tmp_path: Path, demo_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = threading.Event()

    def patient(*_: object, progress: object, cancelled: object, **__: object) -> object:
        progress(0.5, "Reading")  # type: ignore[operator]
        waiting.set()
        while not cancelled():  # type: ignore[operator]
            time.sleep(0.005)
        raise LoadCancelledError("cancelled")

    monkeypatch.setattr(model_host, "load", patient)
    with (
        serving(tmp_path, model_folders=(demo_model.parent,)) as server,
        httpx.Client(base_url=server.url, headers={"x-api-key": KEY}, timeout=30) as http,
    ):
        http.post("/engine/load", json={"model": "demo-moe"})
        assert waiting.wait(10)
        health = http.get("/health").json()
        assert (health["progress"], health["phase"]) == (0.5, "Reading")
        assert http.post("/engine/load/cancel").json() == {"done": True}
        assert http.get("/health").json()["state"] == "empty"
