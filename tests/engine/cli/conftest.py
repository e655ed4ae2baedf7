"""Runs `gannet` as people do: a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Gannet = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def gannet(repository: Path) -> Gannet:
    """`gannet("generate", model, ..., stdin="text")` -> the finished process, text captured."""

    def run(*arguments: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, repository / "gannet.py", *map(str, arguments)],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    return run
