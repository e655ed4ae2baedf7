"""Rendering with a limit on time and memory: in a child process that is ended when it takes too long."""

from __future__ import annotations

import logging
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gannet
from engine.chat_format import template_worker
from engine.chat_format.template import TemplateError
from engine.errors import GannetError

_log = logging.getLogger(__name__)
# Starting Python and importing Jinja, on a slow and busy machine.
_START_SECONDS = 30.0
_LIMIT = "the model's chat template takes longer than {seconds:g} s"


class SchemaError(GannetError):
    """A JSON schema that cannot be turned into a grammar."""


class TemplateProcess:
    """A worker process, started when it is first needed. Any thread; one request at a time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def render(self, template: str, variables: Mapping[str, Any]) -> str:
        """`template.render` within the limits. Raises `TemplateError`."""
        return self._ask({"do": "render", "template": template, "variables": dict(variables)}, TemplateError)

    def schema_grammar(self, schema: Mapping[str, Any]) -> str:
        """`json_grammar.schema_grammar` within the limits. Raises `SchemaError`."""
        return self._ask({"do": "grammar", "schema": dict(schema)}, SchemaError)

    def start(self) -> None:
        """Have the worker ready before the first request."""
        with self._lock:
            self._ensure_child()

    def close(self) -> None:
        """End the worker for good, also one that is just starting."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
        with self._lock:
            self._end()

    def _ask(self, request: Mapping[str, Any], kind: type[GannetError]) -> str:
        with self._lock:
            child = self._ensure_child()
            assert child.stdin is not None
            try:
                template_worker.write_message(child.stdin, request)
                reply = self._replies.get(timeout=self._seconds)
            except queue.Empty:
                self._end()
                raise kind(_LIMIT.format(seconds=self._seconds)) from None
            except OSError:
                reply = None
            if reply is None:
                self._end()
                raise kind("the process that renders chat templates ended; the template may need too much memory")
        if "error" in reply:
            raise kind(reply["error"])
        text: str = reply["text"]
        return text

    def _ensure_child(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._end()
        if self._closed:
            raise GannetError("the process that renders chat templates was ended")
        child = self._child = subprocess.Popen(
            _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        replies = self._replies = queue.SimpleQueue()
        threading.Thread(target=_read_replies, args=(child, replies), name="template-replies", daemon=True).start()
        assert child.stdin is not None
        template_worker.write_message(child.stdin, {"do": "render", "template": "", "variables": {}})
        try:
            replies.get(timeout=_START_SECONDS)
        except queue.Empty:
            self._end()
            raise GannetError("the process that renders chat templates does not start") from None
        return child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        if child.stdin is not None:
            try:
                child.stdin.close()
            except OSError:  # what it had not read is lost on purpose
                pass


def _read_replies(child: subprocess.Popen[bytes], replies: queue.SimpleQueue[Any]) -> None:
    assert child.stdout is not None
    with child.stdout:
        try:
            while (reply := template_worker.read_message(child.stdout)) is not None:
                replies.put(reply)
        except (OSError, ValueError) as error:
            _log.warning("a reply of the template process cannot be read: %s", error)
    replies.put(None)


def _command() -> list[str]:
    script = str(Path(template_worker.__file__).resolve())
    return gannet.packaged("serve", "--template-worker") or [sys.executable, script]
