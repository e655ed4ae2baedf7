"""Paths that would hang or be forbidden: a pipe, a device, a file of somebody else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ModelFileError
from engine.gguf import open_model
from tests.engine.gguf.header_bytes import GgufBytes

# Root may read everything, so the files are opened by a process that has given that up.
_OPEN_AS_SOMEBODY = """
import os, sys
from engine.errors import ModelFileError
from engine.gguf import open_model
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
for path in sys.argv[1:]:
    try:
        open_model(path)
    except ModelFileError as error:
        print(error)
    else:
        print("opened")
"""


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that any user may look into; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def test_a_pipe_or_device_does_not_hang(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    for path in (pipe, Path(os.devnull), Path("/dev/zero")):
        with pytest.raises(ModelFileError, match="not a regular file"):
            open_model(path)


def test_what_may_not_be_read_is_said(shared_folder: Path) -> None:
    secret = GgufBytes().write(shared_folder / "secret.gguf")
    unlisted, closed = shared_folder / "unlisted", shared_folder / "closed"
    for folder in (unlisted, closed):
        folder.mkdir()
        GgufBytes().write(folder / "model.gguf")
    secret.chmod(0)
    unlisted.chmod(0o444)
    closed.chmod(0)
    try:
        messages = opened_by_somebody(secret, unlisted, closed, closed / "model.gguf")
    finally:
        unlisted.chmod(0o755)
        closed.chmod(0o755)
    assert messages[0] == f"{secret}: may not be read by this user; change the file's permissions or copy it"
    assert len(messages) == 4
    assert all("permission" in message for message in messages), messages


def test_somebody_elses_readable_file_opens(shared_folder: Path) -> None:
    path = GgufBytes().write(shared_folder / "model.gguf")
    assert opened_by_somebody(path) == ["opened"]


def opened_by_somebody(*paths: Path) -> list[str]:
    """What a process without special rights says of each path."""
    command = [sys.executable, "-c", _OPEN_AS_SOMEBODY, *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
