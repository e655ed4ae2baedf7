"""Where packaging keeps what it builds, and the facts that every package states: version, name, one-line summary."""

from __future__ import annotations

import platform
import tomllib
from pathlib import Path
from typing import Any

from tools.checkout.places import BUILD, PYPROJECT, ROOT, WINDOWS

PORTABLE = BUILD / "portable"
"""Everything packaging builds and keeps between runs: the engine's libraries, the environment, PyInstaller's work."""
ENVIRONMENT = PORTABLE / "venv"
PYTHON = ENVIRONMENT / ("Scripts" if WINDOWS else "bin") / ("python.exe" if WINDOWS else "python")
DIST = ROOT / "dist"
BUNDLE = DIST / "gannet"
"""The folder with both programs and all they need, which every package carries."""
ICONS = PORTABLE / "icons"
NAME = "gannet"
WINDOW_NAME = "Gannet"


def project() -> dict[str, Any]:
    """The `[project]` table of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    return table


def version() -> str:
    """The version, from its only place."""
    return str(project()["version"])


def summary() -> str:
    """What Gannet is, in one line."""
    return str(project()["description"])


def processor() -> str:
    """This machine's kind of processor as file names state it: `x86_64` or `aarch64`."""
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)


def package_file(ending: str) -> Path:
    """A finished package: `dist/Gannet-VERSION-PROCESSOR.ENDING`."""
    return DIST / f"{WINDOW_NAME}-{version()}-{processor()}.{ending}"
