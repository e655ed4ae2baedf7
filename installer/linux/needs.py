"""What a bundle needs of its system: the libraries it does not bring, and the oldest C library that will do."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from installer.portable import GPU_FOLDER
from tools.checkout.places import DevError

NOT_INSTALLED_HERE = {"libwayland-cursor.so.0": "libwayland-cursor0", "libwayland-egl.so.1": "libwayland-egl1"}
"""Debian packages of libraries that a bundle may use and a building machine need not have."""
LOADER = "ld-linux"
NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
VERSION = re.compile(r"Name: (GLIBC|GLIBCXX)_([\d.]+)")
GCC_OF_GLIBCXX = {"3.4.29": "11", "3.4.30": "12", "3.4.31": "13.1", "3.4.32": "13.2", "3.4.33": "14"}
"""The first version of Debian's libstdc++6 that has a version of its symbols; older ones are everywhere."""


@dataclass(frozen=True)
class Needs:
    """Names of the libraries (SONAMEs), and the highest symbol versions of the C and the C++ library.

    `optional`: what only the engine's GPU libraries need, which are left aside where it is missing.
    """

    libraries: frozenset[str]
    glibc: str
    glibcxx: str
    optional: frozenset[str] = frozenset()


def programs_in(folder: Path) -> list[Path]:
    """Every program and shared library in ELF format."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path for path in files if is_elf(path)]


def is_elf(path: Path) -> bool:
    """Whether a file is a Linux program or library, by its first bytes."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needs(folder: Path) -> Needs:
    """What all programs and libraries below `folder` need together and none of them is."""
    programs = programs_in(folder)
    own = {path.name for path in programs}
    optional = [path for path in programs if path.parent.name == GPU_FOLDER]
    whole = read_needs(what_readelf_says(programs), own)
    always = read_needs(what_readelf_says([path for path in programs if path not in optional]), own).libraries
    return Needs(always, whole.glibc, whole.glibcxx, whole.libraries - always)


def what_readelf_says(programs: Sequence[Path]) -> str:
    """The dynamic section and the symbol versions of each of them."""
    return subprocess.run(["readelf", "-dVW", *programs], capture_output=True, text=True, check=False).stdout


def read_needs(text: str, own: set[str]) -> Needs:
    """The same from what `readelf -dVW` says and the names of the files themselves."""
    libraries = frozenset(name for name in NEEDED.findall(text) if name not in own and not name.startswith(LOADER))
    versions = VERSION.findall(text)
    newest = {
        kind: max((v for k, v in versions if k == kind), key=numbers, default="0") for kind in ("GLIBC", "GLIBCXX")
    }
    return Needs(libraries, newest["GLIBC"], newest["GLIBCXX"])


def numbers(version: str) -> tuple[int, ...]:
    """A version to compare by."""
    return tuple(int(part) for part in version.split("."))


def debian_packages(wanted: Needs, owners: Mapping[str, str]) -> list[str]:
    """Debian's dependencies, sorted; `owners` gives the package of each library."""
    at_least = {"libc6": wanted.glibc, "libstdc++6": GCC_OF_GLIBCXX.get(wanted.glibcxx, "")}
    names = _owners(wanted.libraries, owners)
    return [f"{name} (>= {at_least[name]})" if at_least.get(name) else name for name in names]


def debian_recommends(wanted: Needs, owners: Mapping[str, str]) -> list[str]:
    """The packages of the optional libraries, sorted: recommended, not required."""
    return _owners(wanted.optional, owners)


def _owners(libraries: frozenset[str], owners: Mapping[str, str]) -> list[str]:
    missing = sorted(libraries - set(owners))
    if missing:
        raise DevError(f"no Debian package here has {', '.join(missing)}: install it, or leave out what uses it")
    return sorted({owners[library] for library in libraries})


def owners_here(libraries: Iterable[str]) -> dict[str, str]:
    """The Debian package of each library, as this machine has it installed."""
    listing = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    places = {line.split()[0]: line.split()[-1] for line in reversed(listing.splitlines()) if "=>" in line}
    found = {}
    for library in libraries:
        if library in NOT_INSTALLED_HERE:
            found[library] = NOT_INSTALLED_HERE[library]
        elif library in places:
            owner = debian_owner(Path(places[library]))
            if owner:
                found[library] = owner
    return found


def debian_owner(path: Path) -> str | None:
    """The Debian package that a file of the system belongs to, None when there is none."""
    real = path.resolve()
    for place in (real, Path(str(real).removeprefix("/usr")), Path("/usr") / str(real).lstrip("/")):
        answer = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return answer.stdout.split(":")[0]
    return None
