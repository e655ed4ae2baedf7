"""One server for all tests that do not need one of their own; its folders have names that people really use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.server.server_process import ServerProcess

ODD_NAME = "Modelle für Öl 模型 🦩"


def place_model(folder: Path, model: Path) -> Path:
    """The model in a folder, without copying it where the file system can do that."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / model.name
    try:
        os.link(model, target)
    except OSError:
        shutil.copyfile(model, target)
    return target


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory, demo_model: Path) -> Path:
    """A folder with the demo model, named with spaces, umlauts, CJK and an emoji."""
    folder = tmp_path_factory.mktemp("served") / ODD_NAME
    place_model(folder, demo_model)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[ServerProcess]:
    """A server with the demo model loaded. Tests that use it leave the model loaded and idle."""
    home = tmp_path_factory.mktemp("home") / ODD_NAME
    model = str(model_folder / "demo-moe.gguf")
    served = ServerProcess(home, model, "--models", str(model_folder), "--session-idle", "0.1")
    try:
        yield served.wait_ready()
    finally:
        served.stop()
