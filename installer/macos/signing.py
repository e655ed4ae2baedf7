"""Signing and notarisation, where the environment has the keys for it; without them the application is left as it is.

| variable | what |
| --- | --- |
| `MACOS_IDENTITY` | name of the "Developer ID Application" certificate in the keychain |
| `MACOS_APPLE_ID`, `MACOS_TEAM_ID`, `MACOS_PASSWORD` | account, team and app-specific password for notarisation |

Nobody has run this with real keys yet: what the tests hold is which commands are run, in which order, and when none is.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

ENTITLEMENTS = Path(__file__).with_name("entitlements.plist")
LIBRARIES = (".dylib", ".so")
ACCOUNT = ("MACOS_APPLE_ID", "MACOS_TEAM_ID", "MACOS_PASSWORD")
MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # 64-bit, and several processors in one file
Run = Callable[[list[str]], None]


def run(command: list[str]) -> None:
    """Run one command; CalledProcessError when it fails."""
    subprocess.run(command, check=True)


def inner_code(app: Path) -> list[Path]:
    """Everything inside that has to be signed before the whole is: libraries and programs, the deepest first."""
    found = [path for path in app.rglob("*") if path.is_file() and not path.is_symlink() and is_code(path)]
    return sorted(found, key=lambda path: (-len(path.parts), str(path)))


def is_code(path: Path) -> bool:
    """Whether a file is a library or a program."""
    if path.suffix in LIBRARIES:
        return True
    with path.open("rb") as file:
        return file.read(4) in MACH_O


def sign(app: Path, environment: Mapping[str, str], run: Run = run) -> bool:
    """Sign the application from the inside out; False where there is no certificate to do it with."""
    identity = environment.get("MACOS_IDENTITY")
    if not identity:
        return False
    command = ["codesign", "--force", "--timestamp", "--options", "runtime", "--entitlements", str(ENTITLEMENTS)]
    for path in (*inner_code(app), app):
        run([*command, "--sign", identity, str(path)])
    run(["codesign", "--verify", "--deep", "--strict", str(app)])
    return True


def notarise(image: Path, environment: Mapping[str, str], run: Run = run) -> bool:
    """Sign the disk image, have Apple check it and staple the ticket to it; False where a key is missing."""
    identity = environment.get("MACOS_IDENTITY")
    account, team, password = (environment.get(name, "") for name in ACCOUNT)
    if not (identity and account and team and password):
        return False
    run(["codesign", "--force", "--timestamp", "--sign", identity, str(image)])
    who = ["--apple-id", account, "--team-id", team, "--password", password]
    run(["xcrun", "notarytool", "submit", str(image), *who, "--wait"])
    run(["xcrun", "stapler", "staple", str(image)])
    return True
