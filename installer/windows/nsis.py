"""Makes the Windows installer from the folder that PyInstaller wrote, with NSIS (`makensis`, on any system).

`gannet.nsi` says what the installer does. The files it holds are listed here, in a fixed order, so that two builds of
the same folder hold the same list, and the uninstaller removes exactly what was installed.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

SCRIPT = Path(__file__).with_name("gannet.nsi")


def bundle_files(bundle: Path) -> list[PurePosixPath]:
    """Every file below `bundle`, relative to it, in the order of its path."""
    return sorted(PurePosixPath(path.relative_to(bundle).as_posix()) for path in bundle.rglob("*") if path.is_file())


def windows_path(base: str, path: PurePosixPath) -> str:
    """`path` below `base`, a variable of NSIS's, quoted; a `$` in a name would begin a variable."""
    return '"' + base + "".join("\\" + part.replace("$", "$$") for part in path.parts) + '"'


def install_lines(bundle: Path, files: Iterable[PurePosixPath]) -> list[str]:
    """NSIS commands that write every file to its folder below the installation."""
    lines, folder = [], None
    for path in files:
        if path.parent != folder:
            folder = path.parent
            lines.append(f"SetOutPath {windows_path('$INSTDIR', folder)}")
        lines.append(f'File "{bundle / path}"')
    return lines


def remove_lines(files: Iterable[PurePosixPath]) -> list[str]:
    """NSIS commands that remove every file, then every folder that is empty after that, the deepest first."""
    files = list(files)
    folders = {parent for path in files for parent in path.parents if parent.parts}
    deepest_first = sorted(folders, key=lambda path: (-len(path.parts), path))
    return [
        *(f"Delete {windows_path('$INSTDIR', path)}" for path in files),
        *(f"RMDir {windows_path('$INSTDIR', path)}" for path in deepest_first),
    ]


def four_numbers(version: str) -> str:
    """A version as Windows wants it: `1.2.0rc1` is `1.2.0.0`."""
    release = re.match(r"\d+(\.\d+)*", version)
    numbers = release.group().split(".") if release else []
    return ".".join((*numbers, "0", "0", "0", "0")[:4])


def definitions(bundle: Path, lists: Path, output: Path, version: str, icon: Path | None, target: str) -> list[str]:
    """The `-D` options that `gannet.nsi` asks for."""
    size = sum((bundle / path).stat().st_size for path in bundle_files(bundle))
    values = {
        "VERSION": version,
        "VERSION4": four_numbers(version),
        "BUNDLE": str(bundle),
        "LISTS": str(lists),
        "SIZE_KB": str(-(-size // 1024)),
        "OUTPUT": str(output),
        **({"ICON": str(icon)} if icon else {}),
        **({"TARGET": target} if target else {}),
    }
    return [f"-D{name}={value}" for name, value in values.items()]


def build(
    bundle: Path, output: Path, version: str, icon: Path | None = None, target: str = "", makensis: str = "makensis"
) -> None:
    """Write the installer of `bundle` to `output`. Any warning of makensis is an error: CalledProcessError."""
    bundle, output = bundle.resolve(), output.resolve()
    output.parent.mkdir(parents=True, exist_ok=True)
    files = bundle_files(bundle)
    with tempfile.TemporaryDirectory() as folder:
        lists = Path(folder)
        for name, lines in (("install", install_lines(bundle, files)), ("remove", remove_lines(files))):
            (lists / f"{name}.nsh").write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
        defined = definitions(bundle, lists, output, version, icon, target)
        subprocess.run([makensis, "-WX", "-V2", "-INPUTCHARSET", "UTF8", *defined, str(SCRIPT)], check=True)
