"""A server as users start it: a process of its own, found by the line it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx2 as httpx

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 60.0


def wait_until(condition: Callable[[], Any], what: str, seconds: float = 20.0) -> Any:
    """Wait for a condition to become true and return its value; fails with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:g} s"
        time.sleep(0.02)


class ServerProcess:
    """`gannet serve` with arguments; ended by `stop`.

    Attributes: `url`, `key`, `pid` from the ready line; `process`; `errors` what it wrote to standard error.
    """

    def __init__(self, home: Path, *arguments: str, first_line: dict[str, Any] | None = None) -> None:
        home.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"GANNET_HOME": str(home), "TMPDIR": str(home), "PYTHONUTF8": "1"}
        # One compute thread: the tests' machine is shared, and threads that wait for each other then crawl.
        command = [sys.executable, str(ROOT / "gannet.py"), "serve", "--port", "0", "--threads", "1", *arguments]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=home
        )
        self.errors = ""
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()
        if first_line is not None:
            self.send_line(first_line)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server did not start: {self._end_of_errors()}"
        ready = json.loads(line)
        self.url: str = ready["url"]
        self.pid: int = ready["pid"]
        self.key: str = ready.get("key") or (first_line or {})["key"]
        self.http = httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {self.key}"}, timeout=60)

    def send_line(self, message: dict[str, Any]) -> None:
        """Write a line to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def wait_ready(self) -> ServerProcess:
        """Wait until a model is loaded."""
        wait_until(lambda: self.health()["state"] == "ready", "the model's load", START_SECONDS)
        return self

    def health(self) -> dict[str, Any]:
        """What `/health` says."""
        answer: dict[str, Any] = self.http.get("/health").json()
        return answer

    def chat(self, text: str | Sequence[dict[str, Any]], **fields: Any) -> httpx.Response:
        """A whole, greedy answer."""
        messages = [{"role": "user", "content": text}] if isinstance(text, str) else list(text)
        body = {"messages": messages, "temperature": 0, "max_tokens": 16} | fields
        return self.http.post("/v1/chat/completions", json=body)

    def stop(self, *, kill: bool = False) -> int:
        """End it and return its exit code."""
        self.http.close()
        if self.process.poll() is None:
            self.process.kill() if kill else self.process.terminate()
        code = self.process.wait(20)
        self._reader.join(5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                pass
        return code

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line.decode("utf-8", "replace")

    def _end_of_errors(self) -> str:
        self.process.wait(10)
        self._reader.join(5)
        return self.errors[-2000:]
