"""A bundle of a few empty files, and icons, in place of the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from installer.linux import tree
from installer.linux.tree import Entry

VERSION = "1.2.0"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    inside = folder / "_internal" / "lib"
    inside.mkdir(parents=True)
    for name in ("gannet", "gannet-engine"):
        (folder / name).write_text('#!/bin/sh\necho "started $*"\n')
        (folder / name).chmod(0o755)
    (inside / "libone.so.1").write_bytes(b"\x7fELF")
    (folder / "_internal" / "libone.so.1").symlink_to("lib/libone.so.1")
    return folder


@pytest.fixture
def icons(tmp_path: Path) -> Path:
    folder = tmp_path / "icons"
    folder.mkdir()
    for name in ("gannet.svg", *(f"gannet-{size}.png" for size in tree.ICON_SIZES)):
        (folder / name).write_bytes(name.encode())
    return folder


@pytest.fixture
def entries(bundle: Path, icons: Path) -> list[Entry]:
    return tree.contents(bundle, icons, VERSION)
