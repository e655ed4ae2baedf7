"""The Debian package: one .deb for every release whose C library is new enough."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from installer.linux import needs, tree
from installer.places import DIST, NAME, PORTABLE, processor, summary, version
from tools.checkout.places import DevError

STAGE = PORTABLE / "deb"
MAINTAINER = "The Gannet project <maintainers@gannet.invalid>"
ALSO_NEEDED = ("hicolor-icon-theme",)
"""What no library names: the folders of the icon theme."""
HELPFUL = ("desktop-file-utils", "shared-mime-info", "xdg-utils")
DESCRIPTION = """\
 Gannet keeps the weights that every token needs in memory and reads the experts
 that a token's router picks from the SSD, just before they are used. The answers
 are those of llama.cpp. It has a window for chatting, a library of models, a
 tuner that measures this computer, and a local server for other programs.
 .
 A small demo model is included. Nothing is sent anywhere; models are downloaded
 only when asked for."""


def architecture() -> str:
    """Debian's name of this machine's processor."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(processor(), processor())


def package() -> Path:
    """Where the finished package goes."""
    return DIST / file_name(version())


def file_name(number: str) -> str:
    """The name of the package with that version."""
    return f"{NAME}_{number}_{architecture()}.deb"


def debian_version(text: str) -> str:
    """A version as Debian compares it: `1.0rc1` comes before `1.0`."""
    for mark in ("a", "b", "rc", ".dev"):
        head, found, tail = text.partition(mark)
        if found and head[-1:].isdigit():
            return f"{head}~{mark.lstrip('.')}{tail}"
    return text


def control(depends: Sequence[str], helpful: Sequence[str], installed_kib: int, number: str) -> str:
    """The control file of version `number`; `helpful` are packages of libraries that may be missing."""
    fields = {
        "Package": NAME,
        "Version": debian_version(number),
        "Architecture": architecture(),
        "Maintainer": MAINTAINER,
        "Installed-Size": str(installed_kib),
        "Depends": ", ".join(sorted({*depends, *ALSO_NEEDED})),
        "Recommends": ", ".join(sorted({*helpful, *HELPFUL})),
        "Section": "science",
        "Priority": "optional",
        "Description": f"{summary()}\n{DESCRIPTION}",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def build(entries: Sequence[tree.Entry], seconds: int) -> Path:
    """Make the .deb with every time inside set to `seconds`; returns it."""
    return build_as(version(), entries, seconds, package())


def build_as(number: str, entries: Sequence[tree.Entry], seconds: int, target: Path) -> Path:
    """The same as version `number`, to any place."""
    if shutil.which("dpkg-deb") is None:
        raise DevError("a .deb needs dpkg-deb, which Debian and its relatives have")
    shutil.rmtree(STAGE, ignore_errors=True)
    tree.write(entries, STAGE / "usr", seconds)
    wanted = needs.needs(STAGE / "usr" / tree.PROGRAM_FOLDER)
    owners = needs.owners_here(wanted.libraries | wanted.optional)
    depends, helpful = needs.debian_packages(wanted, owners), needs.debian_recommends(wanted, owners)
    kib = sum(entry.size for entry in entries) // 1024
    write_control(STAGE, {"control": control(depends, helpful, kib, number), "md5sums": checksums(STAGE)})
    target.parent.mkdir(parents=True, exist_ok=True)
    env = os.environ | {"SOURCE_DATE_EPOCH": str(seconds)}
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zxz", "-z6", "--build", STAGE, target], env=env, check=True, stdout=-3
    )
    return target


def write_control(stage: Path, texts: Mapping[str, str]) -> None:
    """The package's own files, with the permissions that dpkg wants whatever those of new files are here."""
    folder = stage / "DEBIAN"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o644)
    for path in (folder, stage):
        path.chmod(0o755)


def checksums(stage: Path) -> str:
    """The md5sums file, which `dpkg --verify` reads."""
    import hashlib

    lines = []
    for path in sorted(path for path in (stage / "usr").rglob("*") if path.is_file() and not path.is_symlink()):
        digest = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
        lines.append(f"{digest}  {path.relative_to(stage).as_posix()}\n")
    return "".join(lines)
