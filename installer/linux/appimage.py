"""The AppImage: the folder it is made from, and the call of `appimagetool` where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from installer.linux import tree
from installer.places import NAME, PORTABLE, package_file, processor, version
from tools.checkout.places import DevError

FOLDER = PORTABLE / "AppDir"
TOOL_VARIABLE = "APPIMAGETOOL"
START = f"""#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/usr/{tree.PROGRAM_FOLDER}/{NAME}" "$@"
"""


def tool() -> str | None:
    """The `appimagetool` to use: the one the environment names, else the one on the path."""
    return os.environ.get(TOOL_VARIABLE) or shutil.which("appimagetool")


def lay_out(entries: Sequence[tree.Entry], folder: Path, seconds: int) -> None:
    """Write the AppDir: the tree below `usr`, and what the format wants at the top."""
    shutil.rmtree(folder, ignore_errors=True)
    tree.write(entries, folder / "usr", seconds)
    shutil.copyfile(folder / f"usr/share/applications/{NAME}.desktop", folder / f"{NAME}.desktop")
    shutil.copyfile(folder / f"usr/share/icons/hicolor/256x256/apps/{NAME}.png", folder / f"{NAME}.png")
    (folder / ".DirIcon").symlink_to(f"{NAME}.png")
    (folder / "AppRun").write_text(START)
    (folder / "AppRun").chmod(0o755)


def build(entries: Sequence[tree.Entry], seconds: int) -> Path:
    """Make the AppImage; DevError where `appimagetool` is missing or fails. The AppDir is left where it is."""
    lay_out(entries, FOLDER, seconds)
    program = tool()
    if program is None:
        raise DevError(f"an AppImage needs appimagetool on the path or in {TOOL_VARIABLE}; {FOLDER} is ready for it")
    target = package_file("AppImage")
    log = PORTABLE / "appimagetool.log"
    with log.open("wb") as out:
        line = command(program, FOLDER, target, seconds)
        done = subprocess.run(line, env=environment(os.environ), stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise DevError(f"appimagetool failed ({log})")
    target.chmod(0o755)
    return target


def command(program: str, folder: Path, target: Path, seconds: int) -> list[str]:
    """The call of `appimagetool`; every file gets the time `seconds`, the file system gets the tool's own fixed one."""
    dated = [word for option in ("-all-time", str(seconds)) for word in ("--mksquashfs-opt", option)]
    return [program, *dated, str(folder), str(target)]


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """What `appimagetool` reads. Without SOURCE_DATE_EPOCH: mksquashfs refuses it beside the tool's own times."""
    kept = {name: value for name, value in variables.items() if name != "SOURCE_DATE_EPOCH"}
    return kept | {"ARCH": processor(), "VERSION": version()}
