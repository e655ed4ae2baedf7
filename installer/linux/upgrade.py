"""The show of an upgrade: an older .deb, what a user makes with it, the newer .deb over it, and the way back."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from installer.linux import deb, tree
from installer.places import BUNDLE, ICONS, PORTABLE, version

if TYPE_CHECKING:
    from installer.linux.show import Show

OLDER = "0.0.9"
METADATA = re.compile(r"/gannet-[^/]*\.dist-info/METADATA$")
DATABASE = ".local/share/Gannet/conversations.sqlite"
PREFERENCES = ".config/Gannet/preferences.json"
PRESETS = ".config/Gannet/presets.json"
MODEL = ".local/share/Gannet/models/kept.gguf"
DARK = {"version": 1, "theme": "dark"}
MINE = {"version": 1, "presets": [{"key": "own-mine", "title": "Mine", "settings": {"io_threads": 3}}]}


def older_entries(entries: Sequence[tree.Entry], number: str) -> list[tree.Entry]:
    """The same tree as an earlier version: only what the program says its version is differs."""
    found = []
    for entry in entries:
        if METADATA.search(entry.path) and entry.source is not None:
            text = re.sub(r"(?m)^Version: .*$", f"Version: {number}", entry.source.read_text("utf-8"), count=1)
            entry = replace(entry, source=None, content=text.encode())
        found.append(entry)
    return found


def older_package() -> Path:
    """A .deb of version `OLDER`, made from the bundle that was packed."""
    entries = older_entries(tree.contents(BUNDLE, ICONS, OLDER), OLDER)
    return deb.build_as(OLDER, entries, 0, PORTABLE / deb.file_name(OLDER))


def show_upgrade(show: Show, model: str) -> None:
    """Older, newer, older again: what the user made is kept by the first step and not touched by the second."""
    del model
    system = show.system
    home = system.root / system.home.lstrip("/")
    system.put(older_package(), "/tmp/older.deb")
    system.put(deb.package(), "/tmp/newer.deb")
    _install(show, "/tmp/older.deb", OLDER)
    for place, content in ((PREFERENCES, DARK), (PRESETS, MINE), (MODEL, "weights")):
        _as_user(show, place, content if isinstance(content, str) else json.dumps(content))
    show.window()
    show.chat("What is the capital of France?", "1-older")
    show.quit()
    said = system.answers()
    show.check("its chats are signed by it", _signed(home / DATABASE) == OLDER)

    _install(show, "/tmp/newer.deb", version())
    show.window()
    time.sleep(2)
    show.picture("2-newer")
    show.chat("Count to five.", "3-newer")
    show.quit()
    show.check(
        "the chats are kept and go on", system.answers()[: len(said)] == said and len(system.answers()) > len(said)
    )
    show.check("the database is signed by the newer version", _signed(home / DATABASE) == version())
    show.check("the settings are kept", _json(home / PREFERENCES).get("theme") == "dark")
    presets = _json(home / PRESETS).get("presets")
    show.check("the presets are kept", presets == MINE["presets"], why=str(presets))
    show.check("the models are kept", (home / MODEL).read_text() == "weights")
    _go_back(show, home)


def _go_back(show: Show, home: Path) -> None:
    """An older program on files of a later format: it says so, and every byte stays."""
    system = show.system
    refused = system.run(["apt-get", "install", "-y", "--no-install-recommends", "/tmp/older.deb"], root=True)
    show.check("apt does not go back unless told to", refused.returncode != 0, why=refused.stdout[-200:])
    with contextlib.closing(sqlite3.connect(home / DATABASE)) as connection:
        [known] = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version={known + 1}")  # as if the newer version had another form of chats
    _install(show, "/tmp/older.deb", OLDER, "--allow-downgrades")
    before = _digests(home)
    system.start(["gtk-launch", "gannet"], show.screen.display)
    show.check("it says why it does not start", show.screen.wait_for_window("Gannet", 60), why=system.log()[-300:])
    time.sleep(1)
    show.picture("4-older-again")
    show.screen.keys("Return")
    end = time.monotonic() + 20
    while time.monotonic() < end and system.processes():
        time.sleep(0.2)
    show.check("and ends", not system.processes())
    said = system.log()
    both = f"Gannet {version()}" in said and f"Gannet {OLDER}" in said
    show.check("naming both versions", both, why=said[-300:])
    show.check("not a byte of the user's has changed", _digests(home) == before)


def _install(show: Show, package: str, number: str, *options: str) -> None:
    line = ["apt-get", "install", "-y", "--no-install-recommends", *options, package]
    done = show.system.run(line, root=True)
    show.check(f"apt installs {number}", done.returncode == 0, why=done.stderr[-200:])
    show.check("it says its version", show.system.run(["gannet", "--version"]).stdout == f"gannet {number}\n")


def _as_user(show: Show, place: str, text: str) -> None:
    """A file in the user's home, made by the user."""
    path = f"{show.system.home}/{place}"
    write = 'mkdir -p "$(dirname "$1")" && printf %s "$2" >"$1"'
    show.system.run(["sh", "-c", write, "sh", path, text])


def _signed(database: Path) -> str:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        [number] = connection.execute("SELECT version FROM program").fetchone()
        return str(number)


def _json(path: Path) -> dict[str, object]:
    content: dict[str, object] = json.loads(path.read_text("utf-8"))
    return content


def _digests(home: Path) -> dict[str, str]:
    """What is in the user's files of Gannet."""
    folders = (home / ".local/share/Gannet", home / ".config/Gannet")
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    kept = [path for path in files if not path.name.endswith((".lock", "-shm"))]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}
