"""The places beside the chat against the real engine process on the demo model."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.engine_client import State
from app.main import Program, build
from app.models.page import ModelsPage
from app.server_page.page import ServerPage
from app.session import demo_model
from app.settings.page import SettingsPage
from app.telemetry.page import TelemetryPage
from tests.app.conftest import close

PATIENCE_MS = 30_000


@pytest.fixture
def real(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Program]:
    """The program with its own engine and the demo model."""
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    made = build(qapp, tmp_path / "config", tmp_path / "data")
    made.window.resize(1100, 750)
    made.window.show()
    made.begin()
    ready(made, qtbot)
    yield made
    close(made)


def ready(program: Program, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: program.client.state == State.READY, timeout=PATIENCE_MS)


def place(program: Program, name: str) -> Any:
    program.window.show_place(name)
    return program.window.page(name)


def test_a_folder_added_to_the_library_is_looked_into_by_the_engine(
    real: Program, qtbot: QtBot, tmp_path: Path
) -> None:
    """From a folder on another drive to a sentence about this computer, and a broken file told apart."""
    folder = tmp_path / "usb" / "deep"
    folder.mkdir(parents=True)
    shutil.copy(demo_model(), folder / "good-Q4_K_M.gguf")
    (folder / "bad.gguf").write_bytes(b"not a model at all")
    page = place(real, "models")
    assert isinstance(page, ModelsPage)
    shelf = real.library.shelf
    shelf.add_folder(tmp_path / "usb")
    qtbot.waitUntil(lambda: len(shelf.entries()) == 2 and not shelf.reading_headers, timeout=PATIENCE_MS)
    bad, good = shelf.entries()
    assert good.facts is not None and good.facts.shape.is_moe and good.facts.shape.n_expert == 32
    assert bad.facts is None and "bad.gguf" in bad.problem
    cards = page.library._cards
    assert "here" in cards[good.file.path].accessibleName() and cards[good.file.path].use_button.isEnabled()
    assert not cards[bad.file.path].use_button.isEnabled()
    cards[good.file.path].use_button.click()
    qtbot.waitUntil(lambda: "good-Q4_K_M" in real.client.model, timeout=PATIENCE_MS)
    ready(real, qtbot)
    assert real.window.place == "chat"


def test_the_running_cache_is_resized_from_the_dashboard(real: Program, qtbot: QtBot) -> None:
    page = place(real, "telemetry")
    assert isinstance(page, TelemetryPage)
    qtbot.waitUntil(lambda: bool(page._expert_map), timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: real.client.last_telemetry.get("cache_bytes", 0) > 0, timeout=PATIENCE_MS)
    before = real.client.last_telemetry["cache_bytes"]
    page.dashboard.memory_bar.chosen.emit(before * 4)
    qtbot.waitUntil(lambda: real.client.last_telemetry["cache_bytes"] > before, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: page.dashboard.shape is not None, timeout=PATIENCE_MS)
    assert page.dashboard.heat_map.sizeHint().height() > 0


def test_the_form_of_presets_is_the_engines_own_and_its_values_are_taken(real: Program, qtbot: QtBot) -> None:
    page = place(real, "settings")
    assert isinstance(page, SettingsPage)
    page.tabs.go("presets")
    qtbot.waitUntil(lambda: bool(page.presets.rows), timeout=PATIENCE_MS)
    page.presets.rows["io_threads"].set_value(3)
    page.presets.rows["io_threads"].edited.emit()
    assert page.presets._save_as.isEnabled() and not page.presets._use_button.isEnabled()
    made = page.presets.save_as("Three readers")
    assert made.settings == {"io_threads": 3} and page.presets._use_button.isEnabled()
    states: list[State] = []
    real.client.state_changed.connect(states.append)
    page.presets._use_button.click()
    qtbot.waitUntil(lambda: State.LOADING in states and real.client.state == State.READY, timeout=PATIENCE_MS)
    answers: list[Any] = []
    call = real.client.get_settings()
    call.done.connect(answers.append)
    qtbot.waitUntil(lambda: bool(answers), timeout=PATIENCE_MS)
    assert answers[0]["values"]["io_threads"] == 3


def test_another_program_comes_in_with_the_key_and_is_seen(real: Program, qtbot: QtBot) -> None:
    """On, a wrong key, the right key: both in the log, one let in. Neither on nor off loads the model anew."""
    page = place(real, "server")
    assert isinstance(page, ServerPage)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    page._port.blockSignals(True)
    page._port.setValue(port)
    page._port.blockSignals(False)
    states: list[State] = []
    real.client.state_changed.connect(states.append)
    engine = real.client.pid
    page._on.setChecked(True)
    qtbot.waitUntil(lambda: "On" in page._status.text(), timeout=PATIENCE_MS)
    assert real.client.door.url.endswith(f":{port}")
    answers: dict[str, int] = {}
    asking = threading.Thread(target=_ask, args=(page.settings.address, page.settings.key, answers))
    asking.start()
    qtbot.waitUntil(lambda: len(answers) == 2, timeout=PATIENCE_MS)
    asking.join()
    assert answers == {"wrong": 401, "right": 200}
    call, seen = real.client.request("GET", "/v1/models"), []
    call.done.connect(seen.append)
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE_MS)
    named = json.loads(page._snippet.toPlainText().partition("-d '")[2].removesuffix("'"))["model"]
    assert named in [model["id"] for model in seen[0]["data"]], "what is copied names a model that the server lacks"
    page._poll()
    qtbot.waitUntil(lambda: "a-test" in page._clients.text(), timeout=PATIENCE_MS)
    assert "401" in page._requests.text() and "GET /v1/models" in page._requests.text()
    page._on.setChecked(False)
    qtbot.waitUntil(lambda: real.client.door.url == "", timeout=PATIENCE_MS)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5)
    assert real.client.pid == engine and states == [], "the engine was started, or the model loaded, anew"


def test_a_taken_port_is_named_and_the_next_choice_works(real: Program, qtbot: QtBot) -> None:
    page = place(real, "server")
    assert isinstance(page, ServerPage)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        page._port.blockSignals(True)
        page._port.setValue(port)
        page._port.blockSignals(False)
        page._on.setChecked(True)
        qtbot.waitUntil(lambda: f"port {port} is in use" in page._status.text(), timeout=PATIENCE_MS)
    page._on.setChecked(False)
    page._on.setChecked(True)
    qtbot.waitUntil(lambda: "On" in page._status.text(), timeout=PATIENCE_MS)
    real.session.restart()
    qtbot.waitUntil(lambda: real.client.door.url == "", timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "On" in page._status.text(), timeout=PATIENCE_MS)


def _ask(address: str, key: str, answers: dict[str, int]) -> None:
    for name, used in (("wrong", "no"), ("right", key)):
        headers = {"Authorization": f"Bearer {used}", "User-Agent": "a-test/1"}
        request = urllib.request.Request(f"{address}/models", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                json.load(response)
                answers[name] = response.status
        except urllib.error.HTTPError as refused:
            answers[name] = refused.code
            refused.close()
