"""Builds the native core and its tests with CMake and Ninja, which do only what changed."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path, PurePath

from tools.checkout.places import BUILD, LOGS, NATIVE, PYTHON, ROOT, WINDOWS
from tools.checkout.programs import logged
from tools.checkout.progress import Progress

PROCESSORS_WITH_TUNING = ("x86_64", "amd64", "arm64", "aarch64")


def sources() -> list[Path]:
    """What the native code is built from, in a fixed order."""
    found = [path for kind in ("*.cpp", "*.h", "CMakeLists.txt") for path in NATIVE.rglob(kind)]
    return [ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake")), *sorted(found)]


def code() -> list[Path]:
    """Our C++ files."""
    return [path for path in sources() if path.suffix in (".cpp", ".h")]


def module_files() -> list[Path]:
    """The built Python module with its type stub, as far as it is there."""
    return [path for kind in ("so", "pyd", "pyi") for path in NATIVE.glob(f"_native*.{kind}")]


def build(log: Path, folder: Path, target: str, **options: str | Path) -> None:
    """Configures `folder` with CMake options and builds one target; DevError when either fails."""
    tuned = "ON" if platform.machine().lower() in PROCESSORS_WITH_TUNING else "OFF"
    chosen: dict[str, str | PurePath] = {"GANNET_NATIVE": tuned, "CMAKE_BUILD_TYPE": "Release"}
    chosen |= {"Python_EXECUTABLE": PYTHON, **options}
    generator = () if WINDOWS else ("-G", "Ninja")
    logged(log, "cmake", "-S", ROOT, "-B", folder, *generator, *defines(chosen))
    logged(log, "cmake", "--build", folder, "--config", "Release", "--target", target)


def defines(options: Mapping[str, str | PurePath]) -> list[str]:
    """CMake's `-D` options. Paths with forward slashes: in a script of CMake's a backslash begins an escape."""
    texts = {name: value.as_posix() if isinstance(value, PurePath) else value for name, value in options.items()}
    return [f"-D{name}={text}" for name, text in texts.items()]


def build_module(log: Path) -> None:
    """Builds `engine.native._native` into the checkout."""
    build(log, BUILD / "native", "_native_stub", GANNET_MODULE_DIR=NATIVE)  # the stub needs the module


def build_tests(sanitizer: str) -> Path:
    """Builds the native tests, plain (empty name) or with a sanitizer, and returns the program."""
    folder = BUILD / (f"native-{sanitizer}" if sanitizer else "native-tests")
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{folder.name}.log"
    log.unlink(missing_ok=True)
    what = f"building the native tests{f' with the {sanitizer} sanitizer' if sanitizer else ''}"
    with Progress(what, "a minute when sources changed", log):
        options = {"GANNET_TESTS": "ON", "GANNET_MODULE": "OFF", "GANNET_SANITIZE": sanitizer}
        build(log, folder, "gannet_native_tests", **options)
    return next(folder.rglob("gannet_native_tests.exe" if WINDOWS else "gannet_native_tests"))
