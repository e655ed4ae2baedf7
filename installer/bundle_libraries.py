"""The shared libraries of a bundle, and what each came with: a Python package, the interpreter, the building system."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from installer.bundle import original
from installer.linux.needs import debian_owner
from tools.checkout.steps import ENGINE_PACKAGE

INSIDE = "_internal"
ENDINGS = (".so", ".dll", ".pyd", ".dylib")
INTERPRETER = "CPython"


@dataclass(frozen=True)
class Library:
    """One library: its place in the bundle, what it came with ("" when that is not known), that one's version where it
    is a package of the building system, and the digest of its bytes."""

    place: str
    origin: str
    version: str
    sha256: str


def found(bundle: Path, site: Path) -> list[Library]:
    """Every shared library below `bundle`, by place; `site` is the folder of packages it was packed from."""
    of_package = files_of_packages(site)
    libraries = []
    for path in sorted(bundle.rglob("*")):
        if is_library(path.name) and path.is_file() and not path.is_symlink():
            place = path.relative_to(bundle).as_posix()
            origin, version = origin_of(place.removeprefix(f"{INSIDE}/"), of_package)
            libraries.append(Library(place, origin, version, hashlib.sha256(path.read_bytes()).hexdigest()))
    return libraries


def is_library(name: str) -> bool:
    """Whether a file is a shared library, by its name: also `libone.so.1`."""
    return name.endswith(ENDINGS) or ".so." in name


def files_of_packages(site: Path) -> dict[str, str]:
    """Place below `site` -> the package that has it in its list of files."""
    return {file.as_posix(): one.name for one in distributions(path=[str(site)]) for file in one.files or ()}


def origin_of(place: str, of_package: Mapping[str, str]) -> tuple[str, str]:
    """What the file at `place` of the bundle's inner folder came with, and the version of a system's package."""
    if place in of_package:
        return of_package[place], ""
    if place.startswith("llama_cpp/lib/"):  # put there by `environment.put_llama`, without a list of files
        return ENGINE_PACKAGE, ""
    name = place.rpartition("/")[2]
    if "/lib-dynload/" in f"/{place}" or name.startswith(("libpython", "python3")) or _beside_interpreter(name):
        return INTERPRETER, ""
    source = original(name) if "/" not in place else None
    package = debian_owner(source) if source and shutil.which("dpkg-query") else None
    return (package, _debian_version(package)) if package else ("", "")


def _beside_interpreter(name: str) -> bool:
    """Whether the interpreter brings a library of that name: Python for Windows has its own."""
    return sys.platform == "win32" and any((Path(sys.base_prefix) / folder / name).is_file() for folder in ("", "DLLs"))


def _debian_version(package: str) -> str:
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}\n", package], capture_output=True, text=True, check=True
    )
    return answer.stdout.splitlines()[0]
