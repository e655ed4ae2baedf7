"""The control routes: the window shows and steers the engine through these."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.trace.format import load as load_trace
from tests.engine.server.conftest import place_model
from tests.engine.server.server_process import ServerProcess, wait_until


def events(server: ServerProcess, count: int, last_id: str | None = None) -> list[tuple[str, str, dict[str, object]]]:
    """The next `count` events as (name, id, data)."""
    found: list[tuple[str, str, dict[str, object]]] = []
    with server.http.stream("GET", "/engine/events", headers={"Last-Event-ID": last_id} if last_id else {}) as stream:
        name = number = ""
        for line in stream.iter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "id":
                number = value
            elif field == "data":
                found.append((name, number, json.loads(value)))
                name = number = ""
            if len(found) == count:
                break
    return found


def test_events_begin_with_the_state_and_tell_telemetry_ten_times_a_second(server: ServerProcess) -> None:
    first, *rest = events(server, 6)
    assert first[0] == "state" and first[2]["state"] in ("ready", "busy") and first[2]["model"] == "demo-moe"
    telemetry = [data for name, _, data in rest if name == "telemetry"]
    assert len(telemetry) >= 4 and "lookups" in telemetry[0] and "process_rss_bytes" in telemetry[0]
    numbers = [int(number) for _, number, _ in rest]
    assert numbers == sorted(set(numbers))


def test_an_interrupted_follower_misses_no_state(server: ServerProcess) -> None:
    last = events(server, 2)[-1][1]
    server.chat("Hello", max_tokens=4)
    wait_until(lambda: server.health()["state"] == "ready", "the end of the answer")
    missed = events(server, 2, last)
    assert [data["state"] for name, _, data in missed if name == "state"] == ["busy", "ready"]
    assert all(int(number) > int(last) for _, number, _ in missed)


def test_settings_are_described_changed_and_checked(server: ServerProcess) -> None:
    described = server.http.get("/engine/settings").json()
    assert set(described["values"]) == set(described["schema"]["properties"])
    changed = server.http.patch("/engine/settings", json={"top_k": 7, "context_length": 256}).json()
    assert (changed["applied"], changed["needs_reload"]) == (["top_k"], ["context_length"])
    assert changed["values"]["top_k"] == 7
    for wrong in ({"top_k": "many"}, {"no_such_setting": 1}, {"context_length": 0}):
        answer = server.http.patch("/engine/settings", json=wrong)
        assert answer.status_code == 400 and next(iter(wrong)) in answer.json()["error"]["message"]
    assert server.http.get("/engine/settings").json()["values"] == changed["values"]
    server.http.patch("/engine/settings", json=described["values"])


def test_what_the_engine_measures(server: ServerProcess) -> None:
    experts = server.http.get("/engine/experts").json()
    assert set(experts) == {"uses", "resident", "last_use"}
    assert server.http.get("/engine/telemetry").json()["resident_bytes"] > 0
    assert server.http.post("/engine/cache", json={"bytes": 16 << 20}).json() == {"bytes": 0}, "nothing is streamed"
    assert server.http.get("/engine/log?lines=3").json()["lines"]
    counted = server.http.post("/engine/tokenize", json={"text": "The fox"}).json()
    assert counted == {"tokens": counted["tokens"], "context_length": 1024} and 0 < counted["tokens"] < 8
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    assert server.http.post("/engine/tokenize", json={"messages": messages}).json()["tokens"] == 15
    facts = server.http.post("/engine/inspect", json={"path": "demo-moe"}).json()
    assert facts["n_expert"] == 32 and facts["total_bytes"] > 30_000_000


def test_without_a_tuner_tuning_is_refused_in_one_line(server: ServerProcess) -> None:
    answer = server.http.post("/engine/tune", json={"budget_s": 0.0})
    assert answer.status_code == 400
    assert server.http.post("/engine/tune/cancel", json={}).json() == {"done": False}


@pytest.fixture
def empty(tmp_path: Path, demo_model: Path) -> Iterator[ServerProcess]:
    """A server that has two models to choose from and has loaded none."""
    folder = tmp_path / "models"
    place_model(folder, demo_model)
    (folder / "again").mkdir()
    place_model(folder / "again", demo_model).rename(folder / "again" / "second model ü.gguf")
    (folder / "broken.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    server = ServerProcess(tmp_path / "home", "--models", str(folder))
    yield server
    server.stop()


def test_models_are_loaded_by_the_requests_that_name_them(empty: ServerProcess) -> None:
    assert empty.health() == empty.health() | {"state": "empty", "model": None}
    assert empty.chat("Hello", model="default").status_code == 503
    answers: list[str] = []

    def ask(model: str) -> None:
        answers.append(empty.chat("Hello", model=model, max_tokens=4).json()["model"])

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("demo-moe", "second model ü") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["demo-moe", "demo-moe", "second model ü", "second model ü"]
    broken = empty.chat("Hello", model="broken")
    assert broken.status_code == 503 and "broken.gguf" in broken.json()["error"]["message"]
    state = empty.health()
    assert state["state"] == "failed" and "broken.gguf" in state["error"]["message"]
    assert empty.http.post("/engine/load", json={"model": "demo-moe"}).status_code == 202
    assert empty.wait_ready().health()["model"] == "demo-moe"
    assert empty.http.post("/engine/unload").json() == {"done": True}
    assert empty.health()["state"] == "empty"


def test_a_change_of_the_caches_size_is_an_event_and_shows_in_the_telemetry(empty: ServerProcess) -> None:
    body = {"model": "demo-moe", "settings": {"cache_bytes": 20 << 20}}
    assert empty.http.post("/engine/load", json=body).status_code == 202
    empty.wait_ready()
    before = empty.http.get("/engine/telemetry").json()
    assert (before["cache_most_bytes"], before["cache_reason"]) == (20 << 20, "start")
    last = events(empty, 2)[-1][1]
    smaller = empty.http.post("/engine/cache", json={"bytes": 12 << 20}).json()["bytes"]
    [change] = [data for name, _, data in events(empty, 3, last) if name == "cache"]
    expected = {"before_bytes": before["cache_bytes"], "cache_bytes": smaller, "reason": "asked for"}
    assert {name: change[name] for name in expected} == expected and change["source"] and change["seconds"] >= 0
    after = empty.http.get("/engine/telemetry").json()
    assert (after["cache_bytes"], after["cache_most_bytes"], after["cache_shrinks"]) == (smaller, 12 << 20, 1)


def test_shutdown_ends_the_process(empty: ServerProcess) -> None:
    with empty.http.stream("GET", "/engine/events") as stream:
        next(stream.iter_lines())
        assert empty.http.post("/engine/shutdown").status_code == 202
        assert empty.process.wait(8) == 0


@pytest.fixture
def streaming(tmp_path: Path, demo_model: Path) -> Iterator[ServerProcess]:
    """A server whose cache is too small for the demo model's experts."""
    server = ServerProcess(tmp_path / "home", str(demo_model), "--cache", "8MiB")
    yield server.wait_ready()
    server.stop()


def test_routing_is_recorded_while_an_answer_goes_on(streaming: ServerProcess) -> None:
    server, url = streaming, "/engine/trace"
    assert server.http.get(url).json()["state"] == "off"
    assert server.http.post(url, json={"on": False}).json()["path"] is None
    pieces = 0
    body = {"messages": [{"role": "user", "content": "Tell me a story about a fox."}], "temperature": 0}
    with server.http.stream("POST", "/v1/chat/completions", json=body | {"stream": True, "max_tokens": 60}) as stream:
        for line in stream.iter_lines():
            pieces += line.startswith("data: {")
            if pieces == 5:
                started = server.http.post(url, json={"on": True, "path": "mitten drin 🦊.trace"}).json()
                pieces += 1
    again = server.http.post(url, json={"on": True, "path": "another"})
    assert again.status_code == 409 and "mitten drin" in again.json()["error"]["message"]
    wait_until(lambda: server.http.get(url).json()["tokens"] > 0, "the first tokens in the file")
    stopped = server.http.post(url, json={"on": False}).json()
    file = Path(started["path"])
    assert stopped == stopped | {"path": None, "file": str(file), "state": "stopped", "dropped": 0}
    trace = load_trace(file)
    assert 0 < int(trace.decoded.sum()) == stopped["tokens"] < 60
    assert file.parent.name == "traces" and stopped["bytes"] == file.stat().st_size
    taken = server.http.post(url, json={"on": True, "path": file.name})
    assert taken.status_code == 409 and taken.json()["error"]["code"] == "trace_exists"
    assert server.http.get(url).json()["state"] == "stopped"
