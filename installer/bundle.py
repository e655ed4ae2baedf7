"""Makes the folder that every package carries: PyInstaller packs it, the licences are added, its size is reported."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from installer import environment, licences
from installer.places import BUNDLE, DIST, ENVIRONMENT, ICONS, PORTABLE, PYTHON, project
from tools.checkout.places import CONSTRAINTS, ROOT, DevError
from tools.checkout.programs import logged

SPEC = ROOT / "installer" / "gannet.spec"
ICON = ROOT / "app" / "theme" / "icons" / "gannet.svg"
PYTHONS_OWN = ("libpython3*.so*", "python3*/lib-dynload/*.so")
GROUPS = {
    "Qt and PySide6": "_internal/PySide6",
    "llama.cpp": "_internal/llama_cpp",
    "numpy": "_internal/numpy",
    "demo model": "_internal/assets",
    "licences": licences.FOLDER,
}


def draw_icons(log: Path) -> None:
    """The icon in all sizes and containers."""
    logged(log, PYTHON, "-m", "installer.icons", ICON, ICONS, env={"QT_QPA_PLATFORM": "offscreen"})


def pack(log: Path) -> None:
    """Run PyInstaller and add the licences."""
    work = PORTABLE / "pyinstaller"
    command = (PYTHON, "-m", "PyInstaller", "--noconfirm", "--distpath", DIST, "--workpath", work, SPEC)
    work.mkdir(parents=True, exist_ok=True)
    # A safe path: the checkout, where this runs, must not be taken for the installed packages.
    logged(log, *command, env={"GANNET_ICONS": str(ICONS), "PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1"})
    if not BUNDLE.is_dir():
        raise DevError(f"PyInstaller wrote no folder {BUNDLE.relative_to(ROOT)}")
    drop_debug_data(log)
    add_licences()


def drop_debug_data(log: Path) -> None:
    """Take the data for debuggers out of the interpreter, which some builds of Python have: two thirds of its size.

    Libraries inside wheels stay as their makers built them: some break when they are written again.
    """
    if not sys.platform.startswith("linux") or shutil.which("strip") is None:
        return
    for pattern in PYTHONS_OWN:
        for path in sorted((BUNDLE / "_internal").glob(pattern)):
            if not path.is_symlink():
                logged(log, "strip", "--strip-debug", path)


def add_licences() -> None:
    """The texts of the licences of all that was packed."""
    site = environment.site_packages()
    parts = licences.packages(site, project(), CONSTRAINTS.read_text("utf-8"))
    system = [path for path in map(original, system_libraries()) if path is not None]
    licences.gather(BUNDLE, parts, system)


def system_libraries() -> list[str]:
    """Names of the libraries at the top of the bundle: those of the building system."""
    return sorted(path.name for path in (BUNDLE / "_internal").glob("lib*.so*") if not path.is_symlink())


def original(name: str) -> Path | None:
    """Where the building system has a library, None when it does not."""
    for folder in ("/usr/lib", "/lib"):
        found = next(Path(folder).glob(f"*/{name}"), None) or next(Path(folder).glob(name), None)
        if found is not None:
            return found
    return None


def sizes(bundle: Path, groups: Mapping[str, str] = GROUPS) -> dict[str, int]:
    """Bytes of the whole bundle and of its large parts; a library with two names counts once."""
    whole = _bytes(bundle)
    parts = {name: _bytes(bundle / place) for name, place in groups.items()}
    return {**parts, "other": whole - sum(parts.values()), "all": whole}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def clean() -> None:
    """Forget what was packed before, so that no file of an older bundle stays."""
    shutil.rmtree(BUNDLE, ignore_errors=True)


def environment_there() -> bool:
    """Whether the packaging environment is complete enough to run."""
    return PYTHON.exists() and ENVIRONMENT.exists()
