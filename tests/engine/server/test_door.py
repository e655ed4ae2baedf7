"""Other programs are let in and shut out while the engine runs; none of them can let others in."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.engine.server.server_thread import KEY, ServerThread, serving

GUEST = "a-key-for-other-programs"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    with serving(tmp_path_factory.mktemp("state")) as server:
        yield server


@pytest.fixture
def owner(served: ServerThread) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=10) as client:
        yield client
        client.post("/engine/door", json={"open": False})


def open_door(owner: httpx.Client, key: str = GUEST, port: int = 0) -> str:
    answer = owner.post("/engine/door", json={"open": True, "port": port, "key": key})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["url"])


def status(url: str, key: str, path: str = "/v1/models", method: str = "GET", **fields: object) -> int:
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=10) as client:
        return client.request(method, path, **fields).status_code  # type: ignore[arg-type]


def test_a_program_comes_in_with_the_doors_key_until_it_is_closed(owner: httpx.Client, served: ServerThread) -> None:
    assert status(served.url, GUEST) == 401
    url = open_door(owner)
    assert url != served.url
    assert status(url, GUEST) == 200 and status(url, "wrong") == 401
    assert httpx.get(f"{url}/v1/models").status_code == 401
    assert owner.post("/engine/door", json={"open": False}).json() == {"url": None}
    with pytest.raises(httpx.ConnectError):
        status(url, GUEST)
    assert status(served.url, GUEST) == 401, "the key still fits the window's own address"


def test_a_new_key_shuts_the_old_one_out(owner: httpx.Client) -> None:
    first = open_door(owner)
    port = int(first.rsplit(":", 1)[1])
    assert open_door(owner, "another-long-enough-key", port) == first
    assert status(first, GUEST) == 401 and status(first, "another-long-enough-key") == 200


def test_only_the_owner_opens_and_closes_it(owner: httpx.Client, served: ServerThread) -> None:
    url = open_door(owner)
    for address in (url, served.url):
        assert status(address, GUEST, "/engine/door", "POST", json={"open": False}) == 403
    assert status(url, GUEST) == 200


def test_a_taken_port_is_said_and_leaves_it_closed(owner: httpx.Client, served: ServerThread) -> None:
    open_door(owner)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = owner.post("/engine/door", json={"open": True, "port": port, "key": GUEST})
    assert answer.status_code == 409 and answer.json()["error"]["code"] == "port_unavailable"
    assert f"port {port} is in use" in answer.json()["error"]["message"]
    assert "--port" not in answer.json()["error"]["message"] and served.service.door.url == ""


@pytest.mark.parametrize(
    "body",
    [{}, {"open": True}, {"open": True, "key": "short"}, {"open": True, "key": GUEST, "port": 70_000},
     {"open": True, "key": GUEST, "host": "example.org"}],
    ids=["nothing", "no key", "short key", "no port", "a name"],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(owner: httpx.Client, body: dict[str, object]) -> None:
    assert owner.post("/engine/door", json=body).status_code == 400


def test_a_stream_that_never_ends_does_not_keep_it_open(owner: httpx.Client) -> None:
    url = open_door(owner)
    listening = threading.Event()

    def listen() -> None:
        with (
            httpx.Client(base_url=url, headers={"Authorization": f"Bearer {GUEST}"}, timeout=30) as client,
            client.stream("GET", "/engine/events") as answer,
        ):
            try:
                for _ in answer.iter_lines():
                    listening.set()
            except httpx.HTTPError:
                return

    thread = threading.Thread(target=listen)
    thread.start()
    assert listening.wait(10)
    began = time.monotonic()
    assert owner.post("/engine/door", json={"open": False}).status_code == 200
    thread.join(10)
    assert not thread.is_alive() and time.monotonic() - began < 5


def test_it_ends_with_the_service(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as server,
        httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=10) as owner,
    ):
        url = open_door(owner)
    with pytest.raises(httpx.ConnectError):
        status(url, GUEST)
