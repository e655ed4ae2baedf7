"""A small stand-in for the engine process, for what the real one cannot be made to do on demand.

Speaks the private start and the part of the HTTP contract that the window uses. Words in the last message steer it:
"slow" pauses between pieces, "think" thinks first, "tool" calls a tool, "long N" answers with N words, "crash" ends the
process in mid-answer, "vanish" before its first word, "break" closes the connection in mid-answer, "refuse" answers
with an error.
`STAND_IN_TUNED` in the environment is the stored tuning it tells of.
Started as `python stand_in_engine.py [--no-start | --exit-at-start]`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = ""
STATE: dict[str, Any] = {"state": "empty", "model": None, "progress": 0.0, "phase": "", "error": None}
LISTENERS: list[tuple[threading.Event, list[tuple[str, dict[str, Any]]]]] = []
LOCK = threading.Lock()
CANCEL = threading.Event()
CONTEXT = {"length": 4096}
SETTINGS: dict[str, Any] = {}
TUNED: dict[str, Any] = json.loads(os.environ.get("STAND_IN_TUNED", "{}"))


def announce(name: str, content: dict[str, Any]) -> None:
    with LOCK:
        for event, waiting in LISTENERS:
            waiting.append((name, dict(content)))
            event.set()


def set_state(**changes: Any) -> None:
    STATE.update(changes)
    announce("state", STATE)


def load(model: str, settings: dict[str, Any]) -> None:
    CANCEL.clear()
    SETTINGS.clear()
    SETTINGS.update(settings)
    CONTEXT["length"] = settings.get("context_length") or 4096
    set_state(state="loading", model=None, progress=0.0, phase="Reading", error=None)
    for step in range(1, 200 if "slow" in model else 4):
        if CANCEL.wait(0.02):
            set_state(state="empty")
            return
        announce("progress", {"progress": min(1.0, step / 4), "phase": "Reading"})
    if "broken" in model:
        set_state(state="failed", error={"message": f"{model}: not a GGUF file", "code": "model_file"})
        return
    set_state(state="ready", model=model, progress=1.0)
    for number in (1, 2):
        announce("telemetry", {"tokens_decoded": 10 * number, "decode_seconds": 2.0 * number, "cache_bytes": 1 << 20})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        return

    def do_GET(self) -> None:
        if not self.allowed():
            return
        if self.path == "/engine/events":
            self.events()
        elif self.path.startswith("/engine/tune?"):
            self.answer({"running": False, "stored": TUNED or None})
        elif self.path == "/engine/settings":
            self.answer({"values": SETTINGS, "schema": {}})
        else:
            self.answer(dict(STATE))

    def do_PATCH(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if not self.allowed():
            return
        if self.path == "/v1/chat/completions":
            self.chat(body)
        elif self.path == "/engine/load":
            threading.Thread(target=load, args=(body["model"], body["settings"]), daemon=True).start()
            self.answer({}, 202)
        elif self.path == "/engine/load/cancel":
            CANCEL.set()
            self.answer({})
        elif self.path == "/engine/unload":
            set_state(state="empty", model=None)
            self.answer({})
        elif self.path == "/engine/cache":
            self.answer({"bytes": body["bytes"]})
        elif self.path == "/engine/tokenize":
            text = body.get("text") or " ".join(str(one["content"]) for one in body.get("messages") or ())
            self.answer({"tokens": len(text.split()), "context_length": CONTEXT["length"]})
        else:
            self.answer({"error": {"message": "no such route", "code": "not_found"}}, 404)

    def allowed(self) -> bool:
        if self.headers.get("Authorization") == f"Bearer {KEY}":
            return True
        self.answer({"error": {"message": "wrong key", "code": "unauthorized"}}, 401)
        return False

    def answer(self, content: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def events(self) -> None:
        self.begin_stream()
        event, waiting = threading.Event(), [("state", dict(STATE))]
        event.set()
        with LOCK:
            LISTENERS.append((event, waiting))
        number = 0
        try:
            while True:
                event.wait()
                with LOCK:
                    event.clear()
                    batch = waiting[:]
                    waiting.clear()
                for name, content in batch:
                    number += 1
                    self.wfile.write(f"id: {number}\nevent: {name}\ndata: {json.dumps(content)}\n\n".encode())
                self.wfile.flush()
        except OSError:
            return

    def chat(self, body: dict[str, Any]) -> None:
        last = body["messages"][-1]["content"]
        if "refuse" in last:
            self.answer({"error": {"message": "The prompt is too long.", "code": "context_length_exceeded"}}, 400)
            return
        self.begin_stream()
        if "vanish" in last:
            self.wfile.flush()
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        try:
            self.pieces(last, body)
        except OSError:
            return

    def pieces(self, last: str, body: dict[str, Any]) -> None:
        if "think" in last:
            self.delta({"reasoning_content": "Let me see. "})
        words = last.split()
        if "long" in words:
            answer = [f"word{number} " for number in range(int(words[words.index("long") + 1]))]
        elif body.get("continue_final_message"):
            answer = ["and ", "on."]
        else:
            answer = ["You ", "said: ", last]
        if "tool" in words:
            self.delta({"tool_calls": [{"index": 0, "function": {"name": "clock", "arguments": '{"zone": '}}]})
            self.delta({"tool_calls": [{"index": 0, "function": {"arguments": '"UTC"}'}}]})
        for number, piece in enumerate(answer):
            self.delta({"content": piece})
            if number == 1 and "crash" in words:
                os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            if number == 1 and "break" in words:
                return
            if "slow" in words:
                time.sleep(0.02)
        self.chunk({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        timings = {"predicted_n": 20, "predicted_ms": 4000.0, "hit_rate": 0.75, "stall_ms": 1500.0, "bytes_read": 9}
        self.chunk({"choices": [], "usage": {"completion_tokens": 20}, "timings": timings})
        self.wfile.write(b"data: [DONE]\n\n")

    def delta(self, delta: dict[str, Any]) -> None:
        self.chunk({"choices": [{"delta": delta}]})

    def chunk(self, content: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(content)}\n\n".encode())
        self.wfile.flush()


def main() -> None:
    global KEY
    KEY = json.loads(sys.stdin.readline())["key"]
    print("stand-in: warming up", file=sys.stderr, flush=True)
    if "--exit-at-start" in sys.argv:
        sys.exit(3)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}", "pid": os.getpid()}), flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
