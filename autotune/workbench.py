"""The tuner's side of the worker process: asks, waits, notices its death, ends it."""

from __future__ import annotations

import collections
import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import gannet
from autotune.control import Control
from autotune.prompts import PROMPTS
from autotune.replies import Census, Loaded, Prepared, Run, Turned
from engine.errors import GannetError

Reply = TypeVar("Reply", Loaded, Prepared, Run, Turned, Census)
_POLL_SECONDS = 0.05
_END_SECONDS = 1.0


class BenchCrashedError(GannetError):
    """The worker process ended, or did not answer in time; the message says how."""


class BenchTimeoutError(BenchCrashedError):
    """The worker did not finish in the time there was, and was ended."""


class BenchRefusedError(GannetError):
    """The worker answered that it could not do it."""


class Bench(Protocol):
    """Where arms are measured. Every call ends early with `CancelledError` when the control says so."""

    def load(self, path: Path, settings: Mapping[str, Any], control: Control) -> Loaded:
        """Load the model anew."""

    def prepare(self, settings: Mapping[str, Any], limit_s: float, control: Control) -> Prepared:
        """Compute the prompts."""

    def run(self, settings: Mapping[str, Any], prompt: int, tokens: int, limit_s: float, control: Control) -> Run:
        """Continue a prompt."""

    def turn(
        self, path: Path, settings: Mapping[str, Any], prompt_tokens: int, tokens: int, limit_s: float, control: Control
    ) -> Turned:
        """Load anew, compute a long prompt, answer."""

    def census(self, control: Control) -> Census:
        """Uses of every expert since the load."""

    def close(self) -> None:
        """End whatever runs; safe to call twice."""


def worker_command() -> list[str]:
    """How this program starts the worker, in a checkout and packaged."""
    return gannet.packaged("tune", "--worker") or [sys.executable, "-m", "autotune.worker"]


class ProcessBench:
    """A `Bench` in a child process, started with the first request and again after a crash."""

    def __init__(self, command: Callable[[], list[str]] = worker_command, hang_seconds: float = 60.0) -> None:
        self._command = command
        self._hang_seconds = hang_seconds
        self._child: subprocess.Popen[str] | None = None
        self._replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._last_words: collections.deque[str] = collections.deque(maxlen=20)
        self._listener: threading.Thread | None = None  # fills `_last_words`

    def load(self, path: Path, settings: Mapping[str, Any], control: Control) -> Loaded:
        """See `Bench`."""
        request = {"do": "load", "path": str(path), "settings": dict(settings)}
        return self._ask(Loaded, request, control, 10 * self._hang_seconds)

    def prepare(
        self, settings: Mapping[str, Any], limit_s: float, control: Control, texts: Sequence[str] = PROMPTS
    ) -> Prepared:
        """See `Bench`; `texts` are other prompts than the tuner's, for checking what it chose."""
        request = {"do": "prepare", "settings": dict(settings), "limit_s": limit_s, "texts": list(texts)}
        return self._ask(Prepared, request, control, limit_s + 5 * self._hang_seconds)

    def run(self, settings: Mapping[str, Any], prompt: int, tokens: int, limit_s: float, control: Control) -> Run:
        """See `Bench`."""
        request = {"do": "run", "settings": dict(settings), "prompt": prompt, "tokens": tokens, "limit_s": limit_s}
        return self._ask(Run, request, control, limit_s + self._hang_seconds)

    def go_on(self, settings: Mapping[str, Any], tokens: int, limit_s: float, control: Control) -> Run:
        """Go on with the answer of the last run, under settings that may be others."""
        request = {"do": "go_on", "settings": dict(settings), "tokens": tokens, "limit_s": limit_s}
        return self._ask(Run, request, control, limit_s + self._hang_seconds)

    def turn(
        self, path: Path, settings: Mapping[str, Any], prompt_tokens: int, tokens: int, limit_s: float, control: Control
    ) -> Turned:
        """See `Bench`."""
        request = {"do": "turn", "path": str(path), "settings": dict(settings), "prompt_tokens": prompt_tokens}
        return self._ask(
            Turned, request | {"tokens": tokens, "limit_s": limit_s}, control, limit_s + self._hang_seconds
        )

    def census(self, control: Control) -> Census:
        """See `Bench`."""
        return self._ask(Census, {"do": "census"}, control, self._hang_seconds)

    def close(self) -> None:
        """See `Bench`."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        try:
            child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:  # its last reads have not come back yet; nobody needs to wait for them
            threading.Thread(target=child.wait, name="autotune-reaper", daemon=True).start()
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _ask(self, kind: type[Reply], request: Mapping[str, Any], control: Control, hang_s: float) -> Reply:
        hangs_at = min(control.clock() + hang_s, control.deadline + _END_SECONDS)
        reply = self._exchange(json.dumps(request), control, hangs_at)
        if "error" in reply:
            raise BenchRefusedError(reply["error"])
        values: dict[str, Any] = {f.name: reply[f.name] for f in fields(kind)}
        make: Callable[..., Reply] = kind
        return make(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})

    def _exchange(self, line: str, control: Control, hangs_at: float) -> dict[str, Any]:
        control.check()
        child = self._ensure_child()
        assert child.stdin is not None
        try:
            child.stdin.write(line + "\n")
            child.stdin.flush()
        except OSError:
            raise self._crashed() from None
        while True:
            try:
                control.check()
                text = self._replies.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if control.clock() > hangs_at:
                    self.close()
                    raise BenchTimeoutError("it did not finish in the time there was") from None
                continue
            except BaseException:
                self.close()  # cancelled: the worker is in the middle of something nobody waits for
                raise
            if text is None:
                raise self._crashed()
            found: dict[str, Any] = json.loads(text)
            return found

    def _ensure_child(self) -> subprocess.Popen[str]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self.close()
        pipe = subprocess.PIPE
        child = self._child = subprocess.Popen(
            self._command(), stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8", errors="replace"
        )
        replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._replies, self._last_words = replies, collections.deque(maxlen=20)
        _pump(child.stdout, replies.put, lambda: replies.put(None))
        self._listener = _pump(child.stderr, self._last_words.append, lambda: None)
        return child

    def _crashed(self) -> BenchCrashedError:
        """What became of the child, for a person."""
        assert self._child is not None
        try:
            code = self._child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        if self._listener is not None:
            self._listener.join(_END_SECONDS)
        words = " ".join(self._last_words).lower()
        last = self._last_words[-1].strip() if self._last_words else ""
        self.close()
        return BenchCrashedError(describe_exit(code, words, last))


def describe_exit(code: int | None, last_words: str, last_line: str = "") -> str:
    """One line on how the worker ended.

    `code` as `Popen.returncode`, `last_words` from its stderr in lower case, `last_line` as it was written.
    """
    out_of_memory = any(w in last_words for w in ("out of memory", "bad_alloc", "memoryerror", "failed to allocate"))
    if code == -9 or out_of_memory or (code is not None and code & 0xFFFFFFFF == 0xC0000017):
        return "it ran out of memory and was ended by the system"
    if code is None:
        return "it closed its output and did not end"
    if code < 0:
        return f"it crashed (signal {-code})"
    return f"it ended by itself (exit code {code}{': ' if last_line else ''}{last_line})"


def _pump(stream: IO[str] | None, line: Callable[[str], object], end: Callable[[], object]) -> threading.Thread:
    """Hand every line of a pipe on, from a thread that ends with the pipe."""
    assert stream is not None

    def work() -> None:
        try:
            for text in stream:
                line(text.rstrip("\n"))
        except ValueError:  # the pipe was closed from our side
            pass
        end()

    thread = threading.Thread(target=work, daemon=True, name="autotune-pipe")
    thread.start()
    return thread
