"""Ask a server a thousand times and leave a third of the answers early, at random moments; then see what is left over.

    disconnect_storm.py URL KEY PID [--requests 1000] [--at-once 8] [--seed 1]

Prints the server's resident memory, threads and open files before and after, and whether a greedy answer is still the
same. Leaves with exit code 1 if it is not, or if the engine stays busy.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import psutil

PROMPTS = ("Tell me a story about a fox.", "Count to nine.", "What is the capital of France?", "Spell house.")


class Server:
    """A server under test."""

    def __init__(self, url: str, key: str, pid: int) -> None:
        self._address = urlsplit(url).netloc
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._process = psutil.Process(pid)

    def ask(self, body: dict[str, Any], leave_after: int | None) -> bytes:
        """Ask; read the whole answer, or leave after so many bytes (0: before any)."""
        connection = http.client.HTTPConnection(self._address, timeout=300)
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), self._headers)
            if leave_after == 0:
                return b""
            answer = connection.getresponse()
            return answer.read() if leave_after is None else answer.read1(leave_after)
        finally:
            connection.close()

    def answer(self) -> str:
        """A greedy answer that reuses nothing."""
        body = body_of(PROMPTS[0]) | {"max_tokens": 40, "cache_prompt": False, "temperature": 0}
        content: str = json.loads(self.ask(body, None))["choices"][0]["message"]["content"]
        return content

    def state(self) -> str:
        """What it is doing."""
        connection = http.client.HTTPConnection(self._address, timeout=30)
        connection.request("GET", "/health")
        try:
            state: str = json.loads(connection.getresponse().read())["state"]
            return state
        finally:
            connection.close()

    def settle(self, seconds: float = 20.0) -> bool:
        """Wait until it is idle; False if it stays busy."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.state() == "ready":
                return True
            time.sleep(0.1)
        return False

    def holds(self) -> dict[str, int]:
        """Memory in KiB, threads, open files and connections of the process."""
        files = self._process.num_fds() if hasattr(self._process, "num_fds") else self._process.num_handles()
        return {
            "rss_kib": self._process.memory_info().rss >> 10,
            "threads": self._process.num_threads(),
            "files": files,
        }


def body_of(prompt: str) -> dict[str, Any]:
    """A request body."""
    return {"messages": [{"role": "user", "content": prompt}]}


def storm(server: Server, requests: int, at_once: int, seed: int) -> int:
    """Ask, leaving a third early; returns how many were left. The same seed leaves the same ones."""
    dice = random.Random(seed)
    plans = []
    for _ in range(requests):
        body = body_of(dice.choice(PROMPTS)) | {"max_tokens": dice.randint(1, 24), "stream": dice.random() < 0.7}
        leave = dice.choice((0, 1, 200, 900)) if dice.random() < 1 / 3 else None
        plans.append((body | {"max_tokens": 600} if leave is not None else body, leave))
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda plan: server.ask(*plan), plans))
    return sum(leave is not None for _, leave in plans)


def main() -> int:
    """Storm and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("key")
    parser.add_argument("pid", type=int)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    server = Server(arguments.url, arguments.key, arguments.pid)
    storm(server, 40, arguments.at_once, arguments.seed + 1)  # so that pools and caches have their size
    server.settle()
    expected, before = server.answer(), server.holds()
    started = time.monotonic()
    left = storm(server, arguments.requests, arguments.at_once, arguments.seed)
    seconds = time.monotonic() - started
    idle = server.settle()
    same, after = server.answer() == expected, server.holds()
    print(f"{arguments.requests} requests in {seconds:.0f} s, {left} of them left early; idle again: {idle}")
    for name, value in before.items():
        print(f"{name:8} before {value:8} after {after[name]:8}")
    print(f"the answer is {'the same' if same else 'ANOTHER ONE'}")
    return 0 if idle and same else 1


if __name__ == "__main__":
    sys.exit(main())
