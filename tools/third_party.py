"""Writes THIRD_PARTY.md: every package pinned in constraints.txt and every library inside one, with its licence.

`python -m tools.third_party` writes the file; with `--check` it only says whether the file is up to date.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "THIRD_PARTY.md"
INSIDE = (  # what a package or our module carries within, and its own metadata does not name
    ("llama.cpp and ggml", "MIT", "compiled into llama-cpp-python's libraries, which the engine loads unmodified"),
    ("Qt 6", "LGPL-3.0-only", "shared libraries inside PySide6_Essentials, replaceable by the user"),
    ("CPython", "PSF-2.0", "the interpreter and its library, in packages"),
    ("PyInstaller's start program", "GPL-2.0-or-later WITH Bootloader-exception", "starts Gannet, in packages"),
    ("NSIS", "Zlib, its LZMA part CPL-1.0 with NSIS's exception", "installs and removes Gannet on Windows"),
    ("nanobind with robin-map", "BSD-3-Clause and MIT", "compiled into our native module"),
)
HEADER = """# Parts of others

Gannet itself is under the Apache License 2.0 (`LICENSE`). It uses these parts of others, unchanged.
This file is written by `tools/third_party.py` from the installed packages' metadata.
"""


@dataclass(frozen=True)
class Part:
    """One package: its name as its authors write it, its licence, and what it is."""

    name: str
    licence: str
    summary: str


def pinned(constraints: str) -> list[str]:
    """The names in a constraints file, in its order."""
    return [line.split("==")[0].strip() for line in constraints.splitlines() if "==" in line and line[0] != "#"]


def canonical(name: str) -> str:
    """A package name in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(fields: PackageMetadata) -> str:
    """The licence that a package's metadata states: its SPDX expression, else its classifiers, else its short text."""
    expression = fields.get("License-Expression")
    if expression:
        return expression
    classifiers = [
        line.split(" :: ")[-1] for line in fields.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    named = [line for line in classifiers if line not in ("OSI Approved", "DFSG approved")]
    if named:
        return ", ".join(named)
    text = (fields.get("License") or "").strip().splitlines()
    return text[0] if text else "not stated"


def part(name: str) -> Part | None:
    """What the installed metadata says about a package; None where it is not installed (another system's)."""
    try:
        fields = metadata(name)
    except PackageNotFoundError:
        return None
    return Part(fields["Name"], licence(fields), (fields.get("Summary") or "").strip().rstrip("."))


def shipped(project: dict[str, Any], names: Iterable[str]) -> set[str]:
    """Canonical names of the packages that a user's installation has: what the project and its window need, in turn."""
    known = {canonical(name) for name in names}
    wanted = [*project["dependencies"], *project["optional-dependencies"].get("app", [])]
    found: set[str] = set()
    while wanted:
        requirement = wanted.pop()
        name = canonical(re.split(r"[\[<>=!~; (]", requirement.strip())[0])
        if name in found or name not in known or "extra ==" in requirement:
            continue
        found.add(name)
        try:
            wanted += metadata(name).get_all("Requires-Dist") or []
        except PackageNotFoundError:
            continue
    return found


def table(parts: Iterable[Part]) -> str:
    """A Markdown table of packages."""
    rows = [f"| {part.name} | {part.licence} | {part.summary.replace('|', '/')} |" for part in parts]
    return "\n".join(["| part | licence | what |", "|---|---|---|", *sorted(rows, key=str.lower)]) + "\n"


def document() -> str:
    """The whole text of THIRD_PARTY.md."""
    names = pinned((ROOT / "constraints.txt").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    delivered = shipped(project, names)
    parts = {canonical(name): found for name in names if (found := part(name))}
    users = [found for name, found in parts.items() if name in delivered]
    developers = [found for name, found in parts.items() if name not in delivered]
    inside = [Part(*row) for row in INSIDE]
    return (
        f"{HEADER}\n## In an installation\n\n{table([*users, *inside])}"
        f"\n## For building and testing only\n\n{table([*developers, Part('doctest', 'MIT', 'C++ test framework')])}"
    )


def main(arguments: list[str]) -> int:
    """Writes the file, or checks it."""
    text = document()
    if "--check" not in arguments:
        TARGET.write_text(text, "utf-8")
        return 0
    if TARGET.read_text("utf-8") == text:
        return 0
    print("THIRD_PARTY.md is out of date: ./dev exec python -m tools.third_party")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
