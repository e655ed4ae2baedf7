"""The self-extracting installer for one user: makeself's archive with `install.sh` inside; it needs no root."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from installer.linux import tree
from installer.places import PORTABLE, WINDOW_NAME, package_file, version
from tools.checkout.places import DevError

STAGE = PORTABLE / "run"
SCRIPTS = Path(__file__).parent


def build(entries: Sequence[tree.Entry], seconds: int) -> Path:
    """Make the .run with every time inside set to `seconds`; returns it."""
    if shutil.which("makeself") is None:
        raise DevError("a .run needs makeself: sudo apt-get install makeself")
    stage(entries, STAGE, seconds)
    target = package_file("run")
    target.parent.mkdir(parents=True, exist_ok=True)
    log = PORTABLE / "makeself.log"
    with log.open("wb") as out:
        done = subprocess.run(command(STAGE, target, seconds), stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise DevError(f"makeself failed ({log})")
    return target


def stage(entries: Sequence[tree.Entry], folder: Path, seconds: int) -> None:
    """Lay out what the archive holds: the tree, the version, and the scripts that install and remove it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("install.sh", "uninstall.sh"):
        shutil.copy(SCRIPTS / name, folder / name)
        (folder / name).chmod(0o755)
    (folder / "version").write_text(f"{version()}\n")
    (folder / "version").chmod(0o644)
    folder.chmod(0o755)
    tree.write(entries, folder / "tree", seconds)


def command(folder: Path, target: Path, seconds: int) -> list[str]:
    """makeself's command line. gzip, since not every system has xz, with no time of its own (9n: level 9, -n)."""
    same = f"--sort=name --owner=0 --group=0 --numeric-owner --mtime=@{seconds}"
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    options = ["--gzip", "--complevel", "9n", "--sha256", "--nomd5", "--nocrc", "--nox11", "--nowait"]
    dated = ["--tar-extra", same, "--packaging-date", when]
    return ["makeself", *options, *dated, str(folder), str(target), f"{WINDOW_NAME} {version()}", "./install.sh"]
