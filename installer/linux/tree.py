"""What every Linux package installs below its prefix, as a sorted list that is the same for the same bundle."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from installer.linux import desktop
from installer.places import NAME, WINDOW_NAME
from tools.checkout.places import ROOT

ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
PROGRAM_FOLDER = f"lib/{NAME}"


@dataclass(frozen=True)
class Entry:
    """One file below the prefix: a copy of `source`, or `content`, or a symbolic link to `link`."""

    path: str
    source: Path | None = None
    content: bytes = b""
    link: str = ""
    program: bool = False

    @property
    def size(self) -> int:
        """Its bytes; 0 for a link."""
        return len(self.content) if self.source is None else self.source.stat().st_size

    @property
    def mode(self) -> int:
        """Its permissions."""
        return 0o755 if self.program else 0o644


def bundle_entries(bundle: Path) -> list[Entry]:
    """The bundle's files, links kept as they are."""
    entries = []
    for folder, folders, files in os.walk(bundle):
        linked = [name for name in folders if (Path(folder) / name).is_symlink()]
        for path in (Path(folder) / name for name in (*files, *linked)):
            place = f"{PROGRAM_FOLDER}/{path.relative_to(bundle).as_posix()}"
            if path.is_symlink():
                entries.append(Entry(place, link=str(path.readlink())))
            else:
                entries.append(Entry(place, source=path, program=os.access(path, os.X_OK)))
    return entries


def desktop_entries(icons: Path, version: str) -> list[Entry]:
    """The command, menu entry, file type, icons and manual page."""
    return [
        Entry(f"bin/{NAME}", link=f"../{PROGRAM_FOLDER}/{NAME}"),
        Entry(f"share/applications/{NAME}.desktop", content=desktop.menu_entry().encode()),
        Entry(f"share/mime/packages/{NAME}.xml", content=desktop.mime_package().encode()),
        Entry(f"share/man/man1/{NAME}.1.gz", content=packed(desktop.manual_page(version).encode())),
        Entry(f"share/icons/hicolor/scalable/apps/{NAME}.svg", source=icons / f"{NAME}.svg"),
        *(
            Entry(f"share/icons/hicolor/{size}x{size}/apps/{NAME}.png", source=icons / f"{NAME}-{size}.png")
            for size in ICON_SIZES
        ),
    ]


def documents(bundle: Path) -> list[Entry]:
    """What Debian's policy wants in the package's documentation folder."""
    changes = (ROOT / "CHANGELOG.md").read_bytes()
    notice = f"""{WINDOW_NAME} is under the Apache License 2.0, on Debian also in /usr/share/common-licenses/Apache-2.0.
The parts of others inside, each under its own licence, are listed with the texts of their licences in
{PROGRAM_FOLDER}/{LICENCES}, below the folder where this package installs.

"""
    text = notice.encode() + (ROOT / "LICENSE").read_bytes()
    folder = f"share/doc/{NAME}"
    return [Entry(f"{folder}/copyright", content=text), Entry(f"{folder}/changelog.gz", content=packed(changes))]


LICENCES = "licences"


def packed(data: bytes) -> bytes:
    """`data` compressed by gzip, with no time in it."""
    return gzip.compress(data, 9, mtime=0)


def contents(bundle: Path, icons: Path, version: str) -> list[Entry]:
    """Every entry, sorted by path."""
    found = [*bundle_entries(bundle), *desktop_entries(icons, version), *documents(bundle)]
    return sorted(found, key=lambda entry: entry.path)


def write(entries: Iterable[Entry], prefix: Path, seconds: int) -> None:
    """Make the entries below `prefix`, an empty or missing folder; every file and folder gets the time `seconds`."""
    for entry in entries:
        target = prefix / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.link:
            target.symlink_to(entry.link)
            continue
        if entry.source is not None:
            shutil.copyfile(entry.source, target)
        else:
            target.write_bytes(entry.content)
        target.chmod(entry.mode)
    for folder, folders, files in os.walk(prefix, topdown=False):
        for path in [*(Path(folder) / name for name in (*files, *folders)), Path(folder)]:
            os.utime(path, (seconds, seconds), follow_symlinks=False)
        Path(folder).chmod(0o755)


def listing(entries: Sequence[Entry]) -> str:
    """Paths with sizes, one a line: what a release keeps to tell what changed in a package."""
    return "".join(f"{entry.path}\t{f'-> {entry.link}' if entry.link else entry.size}\n" for entry in entries)
