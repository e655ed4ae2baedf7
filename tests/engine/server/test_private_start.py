"""The engine as the window starts it: it must never outlive the window, nor open what it was not shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil

from engine.server.pid_file import end_orphans
from tests.engine.server.server_process import ROOT, ServerProcess, wait_until

KEY = {"key": "a-key-over-the-pipe"}


def private(home: Path) -> ServerProcess:
    return ServerProcess(home, "--private", first_line=KEY)


def test_the_key_comes_over_the_pipe_and_is_on_no_command_line(tmp_path: Path) -> None:
    server = private(tmp_path)
    try:
        assert server.http.get("/engine/log").status_code == 200
        assert KEY["key"] not in " ".join(psutil.Process(server.pid).cmdline())
        assert KEY["key"] not in str(psutil.Process(server.pid).environ())
        assert server.health()["state"] == "empty"
    finally:
        server.stop()


def test_it_ends_when_its_input_ends(tmp_path: Path) -> None:
    server = private(tmp_path)
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(8) == 0
    assert not list((tmp_path / "engine" / "engines").glob("*.json"))
    server.stop()


def test_folders_are_served_once_the_parent_names_them(tmp_path: Path, demo_model: Path) -> None:
    server = private(tmp_path)
    try:
        refused = server.http.post("/engine/inspect", json={"path": str(demo_model)})
        assert refused.status_code == 404
        server.send_line({"models": [str(demo_model.parent)]})
        answer = server.http.post("/engine/inspect", json={"path": str(demo_model)})
        assert answer.status_code == 200 and answer.json()["n_expert"] == 32
    finally:
        server.stop()


PARENT = """
import json, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b'{"key": "k"}\\n'); child.stdin.flush()
print(child.stdout.readline().decode(), flush=True)
time.sleep(600)
"""


def start_below_a_parent(home: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A private engine whose parent is not this process; the parent and the engine's process id."""
    command = [sys.executable, str(ROOT / "gannet.py"), "serve", "--port", "0", "--private"]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *command],
        stdout=subprocess.PIPE,
        env=os.environ | {"GANNET_HOME": str(home)},
    )
    assert parent.stdout is not None
    return parent, json.loads(parent.stdout.readline())["pid"]


def end(parent: subprocess.Popen[bytes]) -> None:
    parent.kill()
    parent.wait()
    assert parent.stdout is not None
    parent.stdout.close()


def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    parent, engine = start_below_a_parent(tmp_path)
    end(parent)
    wait_until(lambda: not psutil.pid_exists(engine) or is_zombie(engine), "the engine's end", 10)


def is_zombie(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return True


def test_an_orphan_of_a_crash_is_ended_at_the_next_start(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        folder = tmp_path / "engines"
        folder.mkdir()
        started = psutil.Process(child.pid).create_time()
        facts = {"pid": child.pid, "started": started, "parent": 2**22 - 1, "parent_started": 1.0}
        (folder / f"{child.pid}.json").write_text(json.dumps(facts))
        (folder / "7.json").write_text(json.dumps(facts | {"pid": os.getpid(), "started": 5.0}))  # a reused number
        (folder / "8.json").write_text("{broken")
        assert end_orphans(folder) == [child.pid]
        assert not psutil.pid_exists(child.pid) or is_zombie(child.pid)
        assert not list(folder.glob("*.json"))
    finally:
        child.kill()
        child.wait()


def test_an_engine_whose_window_lives_is_left_alone(tmp_path: Path) -> None:
    server = private(tmp_path)
    try:
        assert end_orphans(tmp_path / "engine" / "engines") == []
        assert server.health()["state"] == "empty"
    finally:
        server.stop()


def test_a_port_in_use_is_named_with_its_holder(tmp_path: Path) -> None:
    server = private(tmp_path)
    port = server.url.rsplit(":", 1)[1]
    try:
        again = subprocess.run(
            [sys.executable, str(ROOT / "gannet.py"), "serve", "--port", port],
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
            env=os.environ | {"GANNET_HOME": str(tmp_path)},
        )
    finally:
        server.stop()
    assert again.returncode == 2 and again.stdout == ""
    assert again.stderr.startswith(f"gannet: port {port} is in use by ")
    assert str(server.pid) in again.stderr and again.stderr.count("\n") == 1
