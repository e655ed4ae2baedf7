"""What every test gets: no network but this machine, no display, and folders of its own instead of the user's."""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def demo_model() -> Path:
    """The built-in demo model: a small trained mixture of experts (qwen3moe, 8 layers, 32 experts, top-4)."""
    return ROOT / "assets" / "demo-moe.gguf"


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, data and caches of a test lie in a temporary home: no test reads or touches the user's."""
    home = tmp_path_factory.mktemp("home")
    for name, folder in {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "AppData",
        "LOCALAPPDATA": home / "LocalAppData",
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_STATE_HOME": home / "state",
    }.items():
        monkeypatch.setenv(name, str(folder))
    return home


@pytest.fixture(autouse=True)
def this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to any other machine fails the test that tries it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
            raise AssertionError(f"a test connects to {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


def is_loopback(host: str) -> bool:
    """Whether a host, by name or address, is this machine itself."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"
