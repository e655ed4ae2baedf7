"""Makes the disk image from the .app that PyInstaller wrote: signed, packed by dmgbuild, notarised. macOS only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from installer.macos import bundle, signing

SETTINGS = Path(__file__).with_name("dmg_settings.py")


def build(app: Path, output: Path, version: str, run: signing.Run = signing.run) -> None:
    """Write the disk image of `app` to `output`. CalledProcessError when a step fails."""
    output.parent.mkdir(parents=True, exist_ok=True)
    signed = signing.sign(app, os.environ, run)
    title = f"{bundle.NAME} {version}"
    run([sys.executable, "-m", "dmgbuild", "-s", str(SETTINGS), "-D", f"app={app}", title, str(output)])
    notarised = signing.notarise(output, os.environ, run)
    if not (signed and notarised):
        print("not signed or not notarised: macOS will ask before it opens this for the first time", file=sys.stderr)
