"""What a reader has to know about the machine and the versions behind a figure."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from engine.processors import available_cores
from engine.sizes import format_bytes

_CPU = Path("/proc/cpuinfo")
_HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_CODE = ("engine", ":!engine/bench", ":!engine/server", ":!engine/sessions")  # what a model's speed depends on
_CHECKOUT = Path(__file__).resolve().parents[2]


def facts() -> dict[str, str]:
    """Name and value of each fact, in the order to print them; what the system does not say is left out."""
    found = {
        "processor": processor_name(),
        "cores": f"{available_cores()} used, {psutil.cpu_count() or 1} logical",
        "memory": format_bytes(psutil.virtual_memory().total),
        "huge pages": _chosen(_text(_HUGE_PAGES)),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": platform.python_version(),
        "llama-cpp-python": _version("llama-cpp-python"),
        "Gannet": _version("gannet"),
    }
    return {name: value for name, value in found.items() if value}


def processor_name(cpuinfo: Path = _CPU) -> str:
    """As the maker calls it."""
    for line in _text(cpuinfo).splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor()


def commit(checkout: Path = _CHECKOUT) -> str:
    """The last commit that changed the engine, with a + for changes since; "" outside of a checkout."""
    last = _git(checkout, "log", "-1", "--format=%h", "--abbrev=10", "--", *_CODE)
    return last + "+" if last and _git(checkout, "status", "--porcelain", "--", *_CODE) else last


def _git(checkout: Path, *command: str) -> str:
    try:
        run = subprocess.run(["git", "-C", checkout, *command], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _chosen(text: str) -> str:
    """The bracketed word of a choice that the kernel shows as `always [madvise] never`."""
    return text.partition("[")[2].partition("]")[0]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
