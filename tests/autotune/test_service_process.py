"""Tuning through the running service: cancelled, the former settings are back; finished, the result is an event."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.server.server_process import ServerProcess, wait_until

CACHE = 8 << 20


class Listener:
    """Collects the service's `tune` events."""

    def __init__(self, server: ServerProcess) -> None:
        self.events: list[dict[str, Any]] = []
        self._server = server
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        kind = ""
        with self._server.http.stream("GET", "/engine/events", timeout=120) as answer:
            for line in answer.iter_lines():
                if line.startswith("event:"):
                    kind = line.partition(":")[2].strip()
                elif line.startswith("data:") and kind == "tune":
                    self.events.append(json.loads(line.partition(":")[2]))
                    if self.phase in {"done", "cancelled", "failed"}:
                        return

    @property
    def phase(self) -> str:
        """Where the tuning is."""
        return str(self.events[-1]["phase"]) if self.events else ""

    def join(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive(), f"the tuning hangs in {self.phase}"


@pytest.fixture
def server(tmp_path: Path, demo_model: Path) -> Iterator[ServerProcess]:
    served = ServerProcess(tmp_path, str(demo_model), "--cache", f"{CACHE}", "--io-threads", "3", "--context", "512")
    try:
        yield served.wait_ready()
    finally:
        served.stop()


def test_a_cancelled_tuning_gives_the_model_back_with_its_former_settings(server: ServerProcess) -> None:
    before = server.http.get("/engine/settings").json()["values"]
    assert server.http.get("/engine/tune").json() == {"running": False, "stored": None}
    listener = Listener(server)
    assert server.http.post("/engine/tune", json={"budget_s": 60}).status_code == 202
    wait_until(lambda: listener.phase == "plan", "loading for the tuning", 60)
    begin = time.monotonic()
    assert server.http.post("/engine/tune/cancel", json={}).json() == {"done": True}
    listener.join()
    assert time.monotonic() - begin < 2.0
    assert listener.events[-1]["result"]["cancelled"]
    server.wait_ready()
    assert server.http.get("/engine/settings").json()["values"] == before
    assert server.chat("Hello").status_code == 200


def test_a_finished_tuning_is_an_event_and_is_kept(server: ServerProcess, tmp_path: Path) -> None:
    listener = Listener(server)
    assert server.http.post("/engine/tune", json={"budget_s": 10}).status_code == 202
    listener.join()
    assert listener.phase == "done", listener.events[-1]
    result = listener.events[-1]["result"]
    assert result["arms"][0]["name"] == "defaults"
    assert result["base"]["io_threads"] == 3
    server.wait_ready()
    stored = server.http.get("/engine/tune").json()["stored"]
    assert stored["stale"] == []
    assert stored["result"] == result
    kept = list(tmp_path.rglob("tuning/*.json"))
    assert [json.loads(path.read_text())["reason"] for path in kept] == [result["reason"]]
