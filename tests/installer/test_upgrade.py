"""The older package that the show of an upgrade begins with."""

from __future__ import annotations

from pathlib import Path

from installer.linux import upgrade
from installer.linux.tree import Entry


def test_an_older_package_differs_in_its_version_only(tmp_path: Path) -> None:
    metadata = tmp_path / "METADATA"
    metadata.write_text("Name: gannet\nVersion: 1.2.0\n\nVersion: stays in the description\n")
    own = Entry("lib/gannet/_internal/gannet-1.2.0.dist-info/METADATA", source=metadata)
    others = [Entry("lib/gannet/_internal/numpy-1.2.0.dist-info/METADATA", source=metadata), Entry("bin/x", link="y")]
    made = upgrade.older_entries([own, *others], "0.0.9")
    assert made[0].path == own.path
    assert made[0].content == b"Name: gannet\nVersion: 0.0.9\n\nVersion: stays in the description\n"
    assert made[1:] == others
