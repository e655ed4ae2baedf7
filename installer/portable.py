"""The portable engine: llama-cpp-python's libraries built for no processor in particular.

llama.cpp is configured from llama-cpp-python's own source package, with ggml's backends as libraries of their own: one
CPU library per processor generation, of which the engine loads the best that runs (`engine/backends.py`). The build
folder is kept, so a build that was broken off goes on where it stopped.
"""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from installer.places import PORTABLE, project
from tools.checkout.places import WINDOWS, DevError
from tools.checkout.programs import logged
from tools.checkout.steps import ENGINE_PACKAGE

LIBRARIES = PORTABLE / "llama"
OPTIONS: Mapping[str, str] = {
    "CMAKE_BUILD_TYPE": "Release",
    "BUILD_SHARED_LIBS": "ON",
    "GGML_NATIVE": "OFF",
    "GGML_BACKEND_DL": "ON",
    "GGML_CPU_ALL_VARIANTS": "ON",
    **{f"LLAMA_BUILD_{part}": "OFF" for part in ("COMMON", "TESTS", "TOOLS", "EXAMPLES", "SERVER", "APP")},
    "CMAKE_PLATFORM_NO_VERSIONED_SONAME": "ON",  # one file each: a wheel has no symbolic links
    "CMAKE_BUILD_WITH_INSTALL_RPATH": "ON",
    "CMAKE_INSTALL_RPATH": "@loader_path" if sys.platform == "darwin" else "$ORIGIN",
}
HEADER_FOLDERS = ("/usr/include", "/usr/local/include")
YOUNGEST_USED = "VK_EXT_layer_settings"
"""The youngest part of Vulkan's headers that ggml's backend uses without asking whether it is there."""
GPU_FOLDER = "gpu"
GPU_BACKENDS = ("vulkan", "metal", "cuda", "hip", "opencl", "sycl")


def engine_version() -> str:
    """The pinned version of llama-cpp-python."""
    line = next(line for line in project()["dependencies"] if line.startswith(ENGINE_PACKAGE))
    return str(line.partition("==")[2])


def source() -> Path:
    """The unpacked source package."""
    return PORTABLE / f"llama_cpp_python-{engine_version()}"


def missing_for_vulkan(include: Sequence[str] = HEADER_FOLDERS) -> str:
    """What the Vulkan backend cannot be built without and is not there, in a few words; "" when nothing is missing.

    Headers are looked for in the SDK that VULKAN_SDK names, else in the folders `include`.
    """
    sdk = os.environ.get("VULKAN_SDK", "")
    folders = [Path(sdk, "include"), Path(sdk, "Include")] if sdk else [Path(folder) for folder in include]
    programs = os.pathsep.join([*([str(Path(sdk, "bin"))] if sdk else []), os.environ.get("PATH", "")])
    if shutil.which("glslc", path=programs) is None:
        return "glslc, the compiler of shaders"
    header = next((path for folder in folders if (path := folder / "vulkan" / "vulkan_core.h").is_file()), None)
    if header is None:
        return "Vulkan's headers"
    if YOUNGEST_USED not in header.read_text("utf-8", "replace"):
        return f"Vulkan's headers of version 1.3.272 or later ({header} is older)"
    if not sdk and not any((folder / "spirv" / "unified1" / "spirv.hpp").is_file() for folder in folders):
        return "SPIR-V's headers"
    return ""


def options(vulkan: bool) -> dict[str, str]:
    """CMake options of the libraries."""
    return {**OPTIONS, "GGML_VULKAN": "ON" if vulkan else "OFF"}


def unpack(log: Path) -> None:
    """Fetch llama-cpp-python's source package through pip and unpack it."""
    exact = f"{ENGINE_PACKAGE}=={engine_version()}"
    only_source = ("--no-deps", "--no-binary", ENGINE_PACKAGE)
    logged(log, sys.executable, "-m", "pip", "download", *only_source, "--dest", PORTABLE, exact)
    shutil.rmtree(source(), ignore_errors=True)
    with tarfile.open(PORTABLE / f"{source().name}.tar.gz") as archive:
        archive.extractall(PORTABLE, filter="data")


def compile_libraries(log: Path, vulkan: bool) -> None:
    """Configure and build llama.cpp and its CPU backends, then the Vulkan backend if it is wanted.

    Packages are made without that one where it cannot be built: a line says so.
    """
    _compile(log, vulkan=False)
    if vulkan:
        try:
            _compile(log, vulkan=True)
        except DevError as error:
            print(f"dev:   no Vulkan backend: {error}", file=sys.stderr)


def _compile(log: Path, vulkan: bool) -> None:
    definitions = [f"-D{name}={value}" for name, value in options(vulkan).items()]
    generator = () if WINDOWS else ("-G", "Ninja")
    logged(log, "cmake", "-S", source() / "vendor" / "llama.cpp", "-B", LIBRARIES, *generator, *definitions)
    logged(log, "cmake", "--build", LIBRARIES, "--config", "Release", "--parallel")


def libraries() -> dict[str, Path]:
    """The built libraries by their place in the package's `lib` folder; GPU backends go to `GPU_FOLDER`."""
    suffixes = (".dll",) if WINDOWS else (".so", ".dylib")
    found = sorted(path for path in (LIBRARIES / "bin").rglob("*") if path.suffix in suffixes)
    return {place_of(path.name): path for path in found}


def link_files() -> list[Path]:
    """What a linker wants instead of a library itself: import libraries, on Windows only."""
    return sorted(LIBRARIES.rglob("*.lib")) if WINDOWS else []


def place_of(name: str) -> str:
    """A library's path below `lib`: the engine loads what lies in `GPU_FOLDER` only to measure graphics cards."""
    backend = name.removeprefix("lib").removeprefix("ggml-").partition(".")[0]
    return f"{GPU_FOLDER}/{name}" if backend in GPU_BACKENDS else name
