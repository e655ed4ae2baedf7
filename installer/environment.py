"""The virtual environment that is packed: exactly what a user's installation needs, the portable engine in it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from installer import portable
from installer.places import ENVIRONMENT, PYTHON, project
from tools.checkout.places import CONSTRAINTS, ROOT, WINDOWS
from tools.checkout.programs import logged
from tools.checkout.steps import ENGINE_PACKAGE

BUILD_TOOLS = ("cmake", "nanobind", "ninja", "scikit-build-core")
LLAMAS_OWN = ("diskcache", "jinja2", "numpy", "typing-extensions")
"""What llama-cpp-python requires; pip is not asked for it, since it is built here."""


def requirements() -> list[str]:
    """What a user's installation needs and what packs it, without llama-cpp-python."""
    table = project()
    extras = table["optional-dependencies"]
    wanted = [*table["dependencies"], *extras["app"], *extras["package"], *LLAMAS_OWN]
    wanted += [line for line in extras["dev"] if line.startswith(BUILD_TOOLS)]
    return [line for line in wanted if not line.startswith(ENGINE_PACKAGE)]


def make(log: Path) -> None:
    """A new environment with the pinned versions."""
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    logged(log, sys.executable, "-m", "venv", ENVIRONMENT)
    fixed = ("--disable-pip-version-check", "--constraint", CONSTRAINTS)
    logged(log, PYTHON, "-m", "pip", "install", *fixed, *requirements())


def site_packages() -> Path:
    """Where its packages lie."""
    if WINDOWS:
        return ENVIRONMENT / "Lib" / "site-packages"
    return ENVIRONMENT / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def install_engine(log: Path) -> None:
    """Put llama_cpp with the portable libraries in, then Gannet with a core that is built against them."""
    site = site_packages()
    put_llama(portable.source(), portable.libraries(), portable.link_files(), site)
    path = str(PYTHON.parent) + os.pathsep + os.environ["PATH"]  # CMake and Ninja of the environment
    build = ("--no-build-isolation", "--no-deps", "--force-reinstall", "--no-cache-dir")
    logged(log, PYTHON, "-m", "pip", "install", *build, ROOT, env={"PATH": path})


def put_llama(source: Path, libraries: dict[str, Path], link_files: Sequence[Path], site: Path) -> None:
    """Lay out the package llama_cpp as its wheel would, from its source package and built libraries."""
    for name in ("llama_cpp", "include", f"{source.name}.dist-info"):
        shutil.rmtree(site / name, ignore_errors=True)
    shutil.copytree(
        source / "llama_cpp", site / "llama_cpp", ignore=shutil.ignore_patterns("lib", "server", "__pycache__")
    )
    for place, path in libraries.items():
        target = site / "llama_cpp" / "lib" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    for path in link_files:
        target = site / "lib" / path.name
        target.parent.mkdir(exist_ok=True)
        shutil.copy2(path, target)
    llama = source / "vendor" / "llama.cpp"
    shutil.copytree(llama / "ggml" / "include", site / "include")
    shutil.copytree(llama / "include", site / "include", dirs_exist_ok=True)
    _describe(source, site / f"{source.name}.dist-info")


def _describe(source: Path, folder: Path) -> None:
    """The metadata that `importlib.metadata` reads, and the licences of the package and of llama.cpp."""
    licences = folder / "licenses"
    licences.mkdir(parents=True)
    shutil.copy(source / "PKG-INFO", folder / "METADATA")
    shutil.copy(source / "LICENSE.md", licences / "LICENSE.md")
    shutil.copy(source / "vendor" / "llama.cpp" / "LICENSE", licences / "LICENSE.llama.cpp")
    (folder / "INSTALLER").write_text("gannet\n")
