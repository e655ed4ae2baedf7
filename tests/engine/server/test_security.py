"""Who may use the engine and what it bears: no web page, stranger or broken client gets in or takes it down."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import psutil
import pytest

from engine.server.serve_settings import Limits
from tests.engine.server.server_thread import KEY, ServerThread, serving

LIMITS = Limits(body_bytes=4 << 20, body_seconds=0.6, header_seconds=0.5, connections=40)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    folder = tmp_path_factory.mktemp("state")
    (folder / "models").mkdir()
    (folder / "secret.gguf").write_bytes(b"GGUF")
    with serving(
        folder, LIMITS, model_folders=(folder / "models",), cors_origins=("https://friend.example",)
    ) as server:
        yield server


@pytest.fixture(scope="module")
def http(served: ServerThread) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=10) as client:
        yield client


def paths_of(http: httpx.Client) -> list[tuple[str, str]]:
    document = http.get("/openapi.json").json()
    return [(method.upper(), path) for path, item in document["paths"].items() for method in item]


@pytest.fixture(scope="module")
def stranger(served: ServerThread) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=10) as client:
        yield client


def test_every_route_but_health_needs_the_key(http: httpx.Client, stranger: httpx.Client) -> None:
    routes = [*paths_of(http), ("GET", "/openapi.json"), ("GET", "/docs"), ("GET", "/no/such/route")]
    assert len(routes) > 20
    for method, path in routes:
        if path == "/health":
            continue
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"x-api-key": KEY[:-1]}, {"Authorization": KEY}):
            answer = stranger.request(method, path, headers=headers, json={})
            assert answer.status_code == 401, (method, path, headers)
    assert stranger.get("/health").status_code == 200
    assert stranger.get("/v1/models", headers={"x-api-key": KEY}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""])
def test_a_host_name_that_was_made_to_point_here_is_refused(http: httpx.Client, host: str) -> None:
    for path in ("/health", "/v1/models"):
        assert http.get(path, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:99", "127.0.0.1:8080", "[::1]:8080", "192.168.1.5"])
def test_names_and_addresses_of_this_machine_are_served(http: httpx.Client, host: str) -> None:
    assert http.get("/v1/models", headers={"Host": host}).status_code == 200


def test_web_pages_of_other_origins_are_refused(http: httpx.Client, served: ServerThread) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "file://"):
        assert http.get("/health", headers={"Origin": origin}).status_code == 403
    assert http.get("/v1/models", headers={"Origin": served.url}).status_code == 200
    friend = http.get("/v1/models", headers={"Origin": "https://friend.example"})
    assert friend.status_code == 200
    assert friend.headers["access-control-allow-origin"] == "https://friend.example"


def test_without_cors_a_page_gets_no_permission(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        headers = {"Origin": "https://friend.example", "Access-Control-Request-Method": "POST"}
        answer = httpx.options(f"{server.url}/v1/models", headers=headers)
        assert answer.status_code == 403 and "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret.gguf", "models/../../secret.gguf", "..", "a\0b", "x" * 3000, "C:\\x.gguf", "~"]
)
def test_no_path_reaches_outside_the_model_folders(http: httpx.Client, served: ServerThread, path: str) -> None:
    for route, field in (("/engine/load", "model"), ("/engine/inspect", "path")):
        answer = http.post(route, json={field: path})
        assert answer.status_code in (400, 404), answer.text
        assert "GGUF" not in answer.text
    absolute = str(served.service.settings.state_folder / "secret.gguf")
    assert http.post("/engine/inspect", json={"path": absolute}).status_code == 404


@pytest.mark.parametrize(
    "name", ["../x", "/tmp/x", "a/b", ".hidden", "..", "a\\..\\b", "a\0b", "C:x", "nul.trace", "🦩" * 51, "x "]
)
def test_a_trace_cannot_be_written_elsewhere(http: httpx.Client, name: str) -> None:
    answer = http.post("/engine/trace", json={"on": True, "path": name})
    assert answer.status_code == 400, answer.text


def test_a_body_of_200_megabytes_is_refused_without_being_held(http: httpx.Client, served: ServerThread) -> None:
    size = 200 << 20
    head = f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\n"
    announced = served.talk(f"{head}Content-Length: {size}\r\n\r\n".encode() + b"x" * 1000)
    assert announced.startswith(b"HTTP/1.1 413")
    before = psutil.Process().memory_info().rss
    with socket.create_connection(served.address, 5) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        sent = 0
        try:
            while sent < size:
                connection.sendall(chunk)
                sent += 0x100000
        except OSError:
            pass
    assert sent < size / 4, "the server went on reading"
    assert psutil.Process().memory_info().rss - before < 40 << 20
    assert http.get("/health").status_code == 200


def test_a_body_that_does_not_come_is_given_up(served: ServerThread) -> None:
    head = (
        f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\nContent-Length: 10\r\n\r\n"
    )
    answer = served.talk(head.encode() + b"{", 5)
    assert answer.startswith(b"HTTP/1.1 408") and b"request_timeout" in answer


def test_too_many_headers_are_refused(http: httpx.Client, served: ServerThread) -> None:
    many = {f"x-{number}": "1" for number in range(150)}
    assert http.get("/health", headers=many).status_code == 431
    long = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 200_000 + b"\r\n\r\n"
    assert served.talk(long)[:10] in (b"", b"HTTP/1.1 4")


@pytest.mark.parametrize(
    "garbage",
    [b"\x00\xff\xfe" * 100, b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"POST / HTTP/9.9\r\n\r\n",
     b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", "GET /ü HTTP/1.1\r\nHost: x\r\n\r\n".encode()],
)  # fmt: skip
def test_garbage_is_answered_and_forgotten(http: httpx.Client, served: ServerThread, garbage: bytes) -> None:
    answer = served.talk(garbage)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert http.get("/health").status_code == 200


def test_slow_clients_are_dropped_and_others_served(http: httpx.Client, served: ServerThread) -> None:
    slow = []
    try:
        for _ in range(30):
            connection = socket.create_connection(served.address, 5)
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: loc")
            slow.append(connection)
        started = time.monotonic()
        assert http.get("/health").status_code == 200
        assert time.monotonic() - started < 2
        for connection in slow:
            connection.settimeout(5)
            try:
                assert connection.recv(1) == b""
            except ConnectionResetError:
                pass
    finally:
        for connection in slow:
            connection.close()


def test_connections_beyond_the_bound_are_refused_and_the_others_go_on(served: ServerThread) -> None:
    held = [socket.create_connection(served.address, 5) for _ in range(60)]
    try:
        held[0].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert held[0].recv(12).startswith(b"HTTP/1.1 200")
    finally:
        for connection in held:
            connection.close()


def test_wrong_keys_by_the_hundred_do_not_disturb(http: httpx.Client, served: ServerThread) -> None:
    request = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guess\r\n\r\n"
    started = time.monotonic()
    for _ in range(300):
        assert served.talk(request).startswith(b"HTTP/1.1 401")
    seconds = time.monotonic() - started
    started = time.monotonic()
    assert http.get("/v1/models").status_code == 200
    assert time.monotonic() - started < 1 and seconds < 30


def test_wrong_json_is_a_bad_request_in_each_shape(http: httpx.Client) -> None:
    for path in ("/v1/chat/completions", "/v1/messages", "/engine/load"):
        for content in (b"", b"{", b"[]", b'"x"', b'{"messages": 5}', b"\xff\xfe", b'{"a":' * 2000):
            answer = http.post(path, content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code == 400, (path, content[:20], answer.text)
            error = answer.json()["error"]
            assert error["message"] and "\n" not in error["message"]
    assert json.loads(http.post("/v1/messages", json={}).text)["type"] == "error"
    missing = http.get("/v1/nothing")
    assert missing.status_code == 404 and missing.json()["error"]["code"] == "not_found"
    assert http.get("/engine/load").status_code == 405
