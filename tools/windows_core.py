"""Compiles ggml and the native core for Windows with mingw-w64 and runs the core's tests under Wine.

`./dev exec python -m tools.windows_core` takes about five minutes on two cores, less when little changed. It needs from
Debian: g++-mingw-w64-x86-64-posix, doctest-dev, wine and wine64. It finds what any compiler of Windows code finds, and
what the calls to Windows do as Wine understands them; Microsoft's compiler and a real Windows are another matter.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from installer import portable
from installer.places import PORTABLE
from tools.checkout.places import BUILD, LOGS, NATIVE, DevError
from tools.checkout.programs import logged

COMPILER = "x86_64-w64-mingw32-g++-posix"
FOLDER = BUILD / "windows"
GGML = FOLDER / "ggml"
OBJECTS = FOLDER / "objects"
PROGRAM = GGML / "bin" / "gannet_native_tests.exe"
DOCTEST = Path("/usr/include/doctest")
DLLS = ("libgomp-1.dll", "libstdc++-6.dll", "libgcc_s_seh-1.dll", "libwinpthread-1.dll")
AVX2 = ("-mavx2", "-mfma", "-mf16c")
SPECIAL = {  # as engine/native/CMakeLists.txt has them
    "kernels_avxvnni": (*AVX2, "-mavxvnni"),
    "kernels_avx512vnni": (*AVX2, *(f"-mavx512{part}" for part in ("f", "bw", "dq", "vl", "vnni"))),
}


def sources() -> list[Path]:
    """The core without its binding to Python, and the tests."""
    found = [path for folder in ("src", "tests") for path in (NATIVE / folder).rglob("*.cpp")]
    return sorted(path for path in found if path.stem not in ("bindings", "bind_simulation"))


def compile_ggml(log: Path) -> None:
    """ggml's libraries, for a processor with AVX2."""
    llama = portable.source() / "vendor" / "llama.cpp"
    options = {
        "CMAKE_SYSTEM_NAME": "Windows",
        "CMAKE_SYSTEM_PROCESSOR": "x86_64",
        "CMAKE_C_COMPILER": COMPILER.replace("g++", "gcc"),
        "CMAKE_CXX_COMPILER": COMPILER,
        "CMAKE_BUILD_TYPE": "Release",
        "BUILD_SHARED_LIBS": "ON",
        "GGML_NATIVE": "OFF",
        # Off when cross-compiling; the core's kernels give the bits of ggml's AVX2 code, not of its plain C.
        **{f"GGML_{part}": "ON" for part in ("SSE42", "AVX", "AVX2", "BMI2", "FMA", "F16C")},
        "CMAKE_C_FLAGS": "-D_WIN32_WINNT=0x0601",  # for newer ones ggml uses what mingw-w64 10 does not declare yet
        **{f"LLAMA_BUILD_{part}": "OFF" for part in ("COMMON", "TESTS", "TOOLS", "EXAMPLES", "SERVER", "APP")},
    }
    defined = [f"-D{name}={value}" for name, value in options.items()]
    logged(log, "cmake", "-S", llama, "-B", GGML, "-G", "Ninja", *defined)
    logged(log, "cmake", "--build", GGML, "--target", "ggml")


def compile_core(log: Path) -> None:
    """Every source that is newer than its object or than which a header is newer; warnings are errors."""
    llama = portable.source() / "vendor" / "llama.cpp"
    folders = [llama / "include", llama / "ggml" / "include", FOLDER / "include"]
    shutil.copytree(DOCTEST, FOLDER / "include" / "doctest", dirs_exist_ok=True)
    OBJECTS.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for kind in ("*.h", "*.inl") for path in NATIVE.rglob(kind))

    def one(source: Path) -> None:
        result = OBJECTS / f"{source.stem}.o"
        if result.exists() and result.stat().st_mtime > max(source.stat().st_mtime, newest):
            return
        ours = ("-Wall", "-Wextra", "-Werror", *(("-Wconversion",) if source.parent.name != "tests" else ()))
        include = [f"-I{NATIVE / 'src'}", *(part for path in folders for part in ("-isystem", str(path)))]
        common = ("-std=c++17", "-O1", "-D_WIN32_WINNT=0x0A00", "-DGANNET_X86_KERNELS")
        logged(log, COMPILER, *common, *ours, *SPECIAL.get(source.stem, ()), *include, "-c", source, "-o", result)

    with ThreadPoolExecutor(os.cpu_count()) as team:
        list(team.map(one, sources()))


def link(log: Path, objects: Iterable[Path]) -> None:
    """The test program, beside the libraries it loads."""
    libraries = ("-lggml", "-lggml-base", "-lggml-cpu", "-lsynchronization")
    logged(log, COMPILER, "-o", PROGRAM, *objects, f"-L{GGML / 'ggml' / 'src'}", *libraries)
    for name in DLLS:
        asked = subprocess.run([COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        shutil.copy(asked.stdout.strip(), PROGRAM.parent)


def main() -> int:
    """Builds and runs; returns the tests' exit code."""
    LOGS.mkdir(parents=True, exist_ok=True)
    PORTABLE.mkdir(parents=True, exist_ok=True)
    log = LOGS / "windows-core.log"
    log.unlink(missing_ok=True)
    try:
        if not portable.source().is_dir():
            portable.unpack(log)
        compile_ggml(log)
        compile_core(log)
        link(log, [OBJECTS / f"{source.stem}.o" for source in sources()])
    except DevError as error:
        print(f"dev: {error}", file=sys.stderr)
        return 1
    environment = os.environ | {"WINEPREFIX": str(FOLDER / "wine"), "WINEDEBUG": "-all", "LC_ALL": "C.UTF-8"}
    return subprocess.run(["wine", str(PROGRAM)], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
