"""Where things lie in a checkout."""

from __future__ import annotations

import os
from pathlib import Path

WINDOWS = os.name == "nt"
ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if WINDOWS else "bin")
PYTHON = BIN / ("python.exe" if WINDOWS else "python")
BUILD = ROOT / "build"
STAMPS = BUILD / "stamps"
LOGS = BUILD / "logs"
NATIVE = ROOT / "engine" / "native"
CONSTRAINTS = ROOT / "constraints.txt"
PYPROJECT = ROOT / "pyproject.toml"


class DevError(Exception):
    """Something a person has to know to go on: one line."""
