"""The set-up as a list of steps, each stamped with a hash of what it depends on.

A step runs again only when that changed, so a second start costs a few file reads, and a set-up that was broken off
goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tools.checkout import debian, native
from tools.checkout.places import BUILD, CONSTRAINTS, LOGS, PYPROJECT, PYTHON, ROOT, STAMPS, VENV
from tools.checkout.programs import logged
from tools.checkout.progress import Progress

ENGINE_PACKAGE = "llama-cpp-python"
PACKING = "package"  # the extra that a checkout does not need: ./dev package installs it into its own environment
BIRTH = VENV / "made-by-dev"  # written when the environment is complete, with the time


@dataclass(frozen=True)
class Step:
    """One part of the set-up.

    `inputs` are hashed into the stamp, `ready` must hold besides, and where `needed` does not hold the stamp is
    written without doing anything.
    """

    name: str
    what: str
    usual: str
    inputs: Callable[[], Iterable[str | Path]]
    action: Callable[[Path], None]
    ready: Callable[[], bool] = lambda: True
    needed: Callable[[], bool] = lambda: True


def digest(inputs: Iterable[str | Path]) -> str:
    """One hash over texts and the contents of files; a path's own name counts, a missing file counts as empty."""
    total = hashlib.sha256()
    for item in inputs:
        name, data = str(item), b""
        if isinstance(item, Path):
            name = item.relative_to(ROOT).as_posix() if item.is_relative_to(ROOT) else name
            data = item.read_bytes() if item.is_file() else b""
        total.update(f"{name}\0{len(data)}\0".encode() + data)
    return total.hexdigest()


def requirements(project: dict[str, Any]) -> list[str]:
    """The dependencies and the extras of a `[project]` table that a checkout needs, llama-cpp-python first."""
    extras = [lines for name, lines in project.get("optional-dependencies", {}).items() if name != PACKING]
    wanted = {*project["dependencies"], *(line for extra in extras for line in extra)}
    return sorted(wanted, key=lambda line: (not line.startswith(ENGINE_PACKAGE), line))


def wanted_here() -> list[str]:
    """The requirements of this checkout."""
    return requirements(tomllib.loads(PYPROJECT.read_text("utf-8"))["project"])


def pip_install(log: Path, *args: str | Path, env: dict[str, str] | None = None) -> None:
    """Installs with exactly the pinned versions; llama-cpp-python from source, so that it fits this processor."""
    fixed = ("--disable-pip-version-check", "--constraint", CONSTRAINTS, "--no-binary", ENGINE_PACKAGE)
    logged(log, PYTHON, "-m", "pip", "install", *fixed, *args, env=env)


def llama_environment() -> dict[str, str]:
    """What makes llama-cpp-python build llama.cpp alone: not the image models, nor the library of its tools.

    After what the user's own CMAKE_ARGS say.
    """
    wanted = {
        "LLAVA_BUILD": "OFF",
        "CMAKE_PROJECT_llama.cpp_INCLUDE": (ROOT / "cmake" / "LlamaLibraryOnly.cmake").as_posix(),
    }
    definitions = [shlex.quote(f"-D{name}={value}") for name, value in wanted.items()]
    return {"CMAKE_ARGS": " ".join([os.environ.get("CMAKE_ARGS", ""), *definitions]).strip()}


def make_venv(log: Path) -> None:
    """A new virtual environment with the pinned pip."""
    shutil.rmtree(VENV, ignore_errors=True)
    logged(log, sys.executable, "-m", "venv", VENV)
    pip_install(log, "pip")
    BIRTH.write_text(f"{time.time()}\n")


def in_venv(*inputs: str | Path) -> list[str | Path]:
    """Inputs of a step whose result lies in the virtual environment: a new environment makes it run again."""
    return [BIRTH, *inputs]


STEPS = (
    Step(
        "debian",
        "Debian packages",
        "under a minute",
        inputs=debian.wanted,
        action=debian.install,
        needed=lambda: bool(debian.missing_here()),
    ),
    Step(
        "venv",
        "virtual environment in .venv",
        "10 s",
        inputs=lambda: [str(ROOT)],
        action=make_venv,
        ready=lambda: PYTHON.exists() and BIRTH.exists(),
    ),
    Step(
        "llama",
        f"{ENGINE_PACKAGE}, compiled from its source package",
        "a few minutes, seconds when pip has it cached",
        inputs=lambda: in_venv(wanted_here()[0]),
        action=lambda log: pip_install(log, wanted_here()[0], env=llama_environment()),
    ),
    Step(
        "python",
        "Python packages",
        "a minute",
        inputs=lambda: in_venv(CONSTRAINTS, *wanted_here()),
        action=lambda log: pip_install(log, *wanted_here()),
    ),
    Step(
        "gannet",
        "gannet itself, editable",
        "3 s",
        inputs=lambda: in_venv(PYPROJECT),
        action=lambda log: pip_install(log, "--no-build-isolation", "--no-deps", "--editable", "."),
    ),
    Step(
        "native",
        "native core",
        "a minute",
        inputs=lambda: in_venv(wanted_here()[0], *native.sources()),
        action=native.build_module,
        ready=lambda: bool(native.module_files()),
    ),
)


def fresh(step: Step) -> bool:
    """Whether a step's stamp says that it was done with the inputs of now."""
    stamp = STAMPS / step.name
    return stamp.is_file() and step.ready() and stamp.read_text() == digest(step.inputs())


def set_up() -> None:
    """Does the steps that are not done, in order."""
    if all(fresh(step) for step in STEPS):
        return
    LOGS.mkdir(parents=True, exist_ok=True)
    with setup_lock():
        for step in STEPS:
            if not fresh(step):
                do(step)


def do(step: Step) -> None:
    """Runs one step with its progress shown, and stamps it; DevError leaves it unstamped."""
    log, stamp = LOGS / f"{step.name}.log", STAMPS / step.name
    log.unlink(missing_ok=True)
    stamp.unlink(missing_ok=True)  # broken off half-way, the step is not done even for its old inputs
    before = digest(step.inputs())  # a source that changes while it is built makes the step run again next time
    if step.needed():
        with Progress(step.what, step.usual, log):
            step.action(log)
    STAMPS.mkdir(parents=True, exist_ok=True)
    stamp.write_text(before)


@contextlib.contextmanager
def setup_lock() -> Iterator[None]:
    """One set-up at a time in a checkout; a second one waits and says so."""
    with (BUILD / "setup.lock").open("a") as file:
        if not try_lock(file):
            print("dev: waiting for another ./dev that is setting up this checkout", file=sys.stderr)
            while not try_lock(file):
                time.sleep(0.5)
        yield


def try_lock(file: IO[str]) -> bool:
    """Takes an exclusive lock that ends with the process; False when another process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
