"""The Debian packages a checkout needs: which are missing, and installing them where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.checkout.places import DevError
from tools.checkout.programs import logged

COMPILER = ("g++", "doctest-dev")
SYSTEM_PYTHON = ("python3-dev", "python3-venv")  # only where the interpreter is Debian's own
WINDOW = (  # what Qt loads for a window, and one font to draw with
    "fonts-dejavu-core",
    "libdbus-1-3",
    "libegl1",
    "libfontconfig1",
    "libgl1",
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-keysyms1",
    "libxcb-shape0",
    "libxkbcommon-x11-0",
    "libxkbcommon0",
)


def wanted(base_prefix: str = sys.base_prefix) -> list[str]:
    """The packages this checkout needs on this machine; none where there is no dpkg."""
    if not shutil.which("dpkg-query"):
        return []
    return [*COMPILER, *(SYSTEM_PYTHON if base_prefix == "/usr" else ()), *WINDOW]


def missing(packages: Sequence[str], status: str) -> list[str]:
    """Those of `packages` that a status text (lines `NAME STATE`) does not call `installed`."""
    installed = {line.split()[0] for line in status.splitlines() if line.endswith(" installed")}
    return [name for name in packages if name not in installed]


def missing_here() -> list[str]:
    """The needed packages that dpkg does not have installed."""
    packages = wanted()
    if not packages:
        return []
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages]
    return missing(packages, subprocess.run(query, capture_output=True, text=True, check=False).stdout)


def install(log: Path) -> None:
    """Installs what is missing as root; else names it, and stops only where the build could not go on."""
    names = missing_here()
    may_install = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")
    if may_install:
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        logged(log, "apt-get", "update", env=quiet)
        logged(log, "apt-get", "install", "-y", "--no-install-recommends", *names, env=quiet)
        return
    command = f"sudo apt-get install {' '.join(names)}"
    needed = {*COMPILER, *SYSTEM_PYTHON}.intersection(names)
    if needed and not shutil.which("c++"):
        raise DevError(f"the build needs packages that are missing: {command}")
    print(f"dev:   not root, so these are not installed, and what needs them will fail: {command}", file=sys.stderr)
