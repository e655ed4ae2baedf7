"""Tries the Windows installer out under Wine: install, upgrade, refused downgrade, uninstall; says what each left.

`python -m installer.windows.trial` needs makensis and 64-bit Wine (Debian: nsis, wine, wine64) and takes two minutes.
The programs inside are empty files: what is tried is the installer. Exits 1 when anything is not as it should be.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from installer.windows.nsis import build

OLD = ("gannet.exe", "gannet-engine.exe", "_internal/old.dll", "_internal/sub/kept.dll")
NEW = ("gannet.exe", "gannet-engine.exe", "_internal/new.dll", "_internal/sub/kept.dll", "_internal/ü ß/text.txt")
DATA = ("conversations.sqlite", "engine/census.bin", "models/owner/model.gguf")
UNINSTALL_KEY = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\Gannet"
OTHER_FOLDER = "C:\\Größe 塘\\Gannet 2"
END_SECONDS = 15


class Wine:
    """A new Windows in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.environment = os.environ | {
            "WINEPREFIX": str(folder),
            "WINEDEBUG": "-all",
            "DISPLAY": "",
            "LC_ALL": "C.UTF-8",
        }
        self.drive = folder / "drive_c"
        self.run("wineboot", "-i")
        self.local = next((self.drive / "users").glob("*/AppData/Local"))
        self.roaming = self.local.with_name("Roaming")

    def run(self, *command: str | Path) -> int:
        """The exit code of a Windows program."""
        line = ["wine", *map(str, command)]
        return subprocess.run(line, env=self.environment, capture_output=True, check=False, timeout=120).returncode

    def registry(self) -> str:
        """All keys and values of the user's classes and uninstallers."""
        texts = []
        for key in (r"HKCU\Software\Classes", UNINSTALL_KEY, r"HKCU\Software\Gannet"):
            line = ["wine", "reg", "query", key, "/s"]
            done = subprocess.run(line, env=self.environment, capture_output=True, check=False, timeout=120)
            texts.append(done.stdout.decode("utf-8", "replace"))
        return "\n".join(texts)

    def end(self) -> None:
        """End what still runs."""
        subprocess.run(["wineserver", "-k"], env=self.environment, check=False)


@contextmanager
def new_wine() -> Iterator[Wine]:
    """A Windows of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        wine = Wine(Path(folder))
        try:
            yield wine
        finally:
            wine.end()


def installer(folder: Path, version: str, files: tuple[str, ...]) -> Path:
    """An installer of empty files."""
    bundle = folder / version
    for name in files:
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / name).write_bytes(b"")
    output = folder / f"gannet-{version}.exe"
    build(bundle, output, version, target="amd64-unicode")
    return output


def files_below(folder: Path) -> set[str]:
    """Every file's path below `folder`."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def within_seconds(holds: Callable[[], bool]) -> bool:
    """Whether something comes true soon: not every program waits for what it has started."""
    end = time.monotonic() + END_SECONDS
    while not holds() and time.monotonic() < end:
        time.sleep(0.2)
    return holds()


def uninstalled(wine: Wine, program: Path, *options: str) -> bool:
    """Runs the uninstaller, which goes on as a copy of itself, to its end."""
    wine.run(program / "uninstall.exe", "/S", *options)
    gone = within_seconds(lambda: not (program / "gannet.exe").exists())
    time.sleep(1.0)  # sections after the first
    return gone


def trial(wine: Wine, work: Path) -> Iterator[tuple[str, bool]]:
    """Each step: what is expected, and whether it is so."""
    old, new = installer(work, "0.1.0", OLD), installer(work, "0.2.0", NEW)
    program, data = wine.local / "Programs" / "Gannet", wine.local / "Gannet"
    menu = wine.roaming / "Microsoft" / "Windows" / "Start Menu" / "Programs" / "Gannet.lnk"
    yield "the installer ends well", wine.run(old, "/S") == 0
    yield "it writes its files and the uninstaller", files_below(program) == {*OLD, "uninstall.exe"}
    yield "the start menu has an entry", menu.exists()
    yield "a .gguf file is opened with it", r'gannet.exe" "%1"' in wine.registry()
    yield "Windows lists it with its version", "0.1.0" in wine.registry()
    for name in DATA:
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(b"x")
    (program / "notes.txt").write_text("of the user")
    yield "an upgrade ends well", wine.run(new, "/S") == 0
    yield "it leaves no old file behind", files_below(program) == {*NEW, "uninstall.exe", "notes.txt"}
    yield "it keeps chats, settings and models", files_below(data) == set(DATA)
    yield "a silent downgrade is refused with code 3", wine.run(old, "/S") == 3 and "0.2.0" in wine.registry()
    yield "uninstalling takes the program away", uninstalled(wine, program)
    yield "it leaves a file that the user put there", files_below(program) == {"notes.txt"}
    yield "it leaves chats, settings and models", files_below(data) == set(DATA)
    yield "it leaves nothing in the registry and the menu", "annet" not in wine.registry() and not menu.exists()
    wine.run(new, "/S")
    yield (
        "asked to, it removes chats and leaves models",
        uninstalled(wine, program, "/CHATS") and files_below(data) == {"models/owner/model.gguf"},
    )
    wine.run("cmd", "/c", f"Z:{new} /S /D={OTHER_FOLDER}")  # NSIS wants the folder without quotes
    other = wine.drive / OTHER_FOLDER[3:].replace("\\", "/")
    yield (
        "another folder can be chosen, with any characters",
        within_seconds(lambda: files_below(other) == {*NEW, "uninstall.exe"}),
    )
    yield "asked to, it removes models too", uninstalled(wine, other, "/MODELS") and not data.exists()
    yield "its own folder is gone", not other.exists()


def main() -> int:
    """Prints every expectation with yes or no."""
    with tempfile.TemporaryDirectory() as folder, new_wine() as wine:
        results = []
        for expected, holds in trial(wine, Path(folder)):
            print(f"{'yes' if holds else 'NO '}  {expected}", flush=True)
            results.append(holds)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
