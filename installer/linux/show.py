"""Shows the Linux packages in a bare Debian, as a person meets them, with a picture of every step.

    python -m installer.linux.show RELEASE PICTURES [--model FILE] [--show deb|run|appimage|upgrade|places]...

Needs root and Debian's debootstrap, xvfb, xdotool, openbox and imagemagick. A base system with what every desktop has
is made once per release in build/portable/show; each show runs in an overlay over it, which is thrown away.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from installer.linux import deb, upgrade
from installer.linux.bare_system import System, base_system
from installer.linux.screen import Screen
from installer.places import package_file, version

HARD_PLACES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "without network": {"network": False},
    "LANG=C": {"language": "C"},
    "LANG=C, without network": {"network": False, "language": "C"},
}
USERS_DATA = (".local/share/Gannet", ".config/Gannet", ".local/state/Gannet", ".cache")
ANSWER_SECONDS = 90
FIRST_WORDS = 20
"""Characters of an answer that show that it is being given."""
SETTLE_SECONDS = 4
COMPOSER = (0.6, 0.91)
"""Where in the window a message is typed, as shares of its width and height."""


class NoWindowError(Exception):
    """The window did not open, so there is nothing to go on with."""


class Show:
    """One package in one system: every step says what it found, `failures` has what was not as it should be."""

    def __init__(self, system: System, screen: Screen, name: str) -> None:
        self.system, self.screen, self.name = system, screen, name
        self.failures: list[str] = []

    def check(self, what: str, good: bool, found: str = "", why: str = "") -> None:
        """Say whether something is as it should be, with what was found; if it is not, with why."""
        print(f"  {'ok  ' if good else 'FAIL'} {what} {found if good else why}".rstrip(), flush=True)
        if not good:
            self.failures.append(what)

    def picture(self, step: str) -> None:
        """A picture of the whole screen."""
        self.screen.picture(f"{self.system.release}-{self.name}-{step}")

    def window(self, arguments: Sequence[str] = (), limit: str = "") -> None:
        """Open the window by its menu entry, as a panel does; the AppImage, which has none, as a file manager does."""
        start = time.monotonic()
        opener = self.command(["gannet"]) if self.name == "appimage" else ["gtk-launch", "gannet"]
        self.system.start([*opener, *arguments], self.screen.display, limit)
        there = self.screen.wait_for_window("Gannet", 60)
        took = f"after {time.monotonic() - start:.1f} s, {self.system.window_seconds():.1f} s of processor time"
        self.check("the window opens", there, took, self.system.log()[-300:])
        if not there:
            raise NoWindowError

    def chat(self, text: str, step: str, finished: bool = True) -> None:
        """Type a message and wait for the whole answer, or for its first words."""
        before = self.system.answers(finished)
        time.sleep(SETTLE_SECONDS)
        self.screen.click("Gannet", *COMPOSER)
        self.screen.type(text)
        end = time.monotonic() + ANSWER_SECONDS
        answers: list[str] = []
        enough = 0 if finished else FIRST_WORDS
        while time.monotonic() < end and not (answers and len(answers[-1]) > enough):
            time.sleep(0.5)
            answers = self.system.answers(finished)[len(before) :]
        self.picture(step)
        self.check(
            "an answer came and is kept",
            bool(answers and answers[-1].strip()),
            repr(answers[-1:])[:90],
            self.system.log()[-300:],
        )

    def quit(self) -> None:
        """Close the window by its shortcut; no process may stay."""
        self.screen.keys("ctrl+q")
        end = time.monotonic() + 20
        while time.monotonic() < end and self.system.processes():
            time.sleep(0.2)
        self.check("closing leaves no process", not self.system.processes(), why=" ".join(self.system.processes()))

    def generate(self, model: str, cache: str, limit: str) -> None:
        """The same engine in the terminal, within a memory limit."""
        line = ["gannet", "generate", model, "--prompt", "Once upon a time", "--greedy", "--tokens", "24"]
        done = self.system.run([*self.command(line), "--cache", cache, "--ignore-end"], limit=limit)
        said = done.stderr.strip()[-200:]
        self.check(f"{Path(model).name} streams in {limit}", done.returncode == 0, said, said)

    def command(self, line: list[str]) -> list[str]:
        """A command line with the program where this package puts it."""
        home = self.system.home
        programs = {"deb": "/usr/bin/gannet", "appimage": f"{home}/{package_file('AppImage').name}"}
        return [programs.get(self.name, f"{home}/.local/bin/gannet"), *line[1:]]

    def nothing_left(self, before: set[str]) -> None:
        """After the removal: no file but the user's data."""
        left = sorted(path for path in self.system.files() - before if not self.users(path))
        self.check("nothing is left but the user's data", not left, why=" ".join(left[:5]))
        kept = [path for path in self.system.files() if path.endswith("Gannet/conversations.sqlite")]
        self.check("the user's chats stay", len(kept) == 1, " ".join(kept))

    def users(self, path: str) -> bool:
        """Whether a path is the user's data, or a folder on the way to it."""
        mine = [f"{self.system.home}/{place}" for place in USERS_DATA]
        return any(path.startswith(place) or place.startswith(f"{path}/") for place in mine)

    def use(self, model: str) -> None:
        """Chat with the demo model, then stream `model` in 2 GiB, in the window and in the terminal."""
        self.window()
        self.picture("2-window")
        self.chat("Tell me a short story about a gannet.", "3-chat")
        self.quit()
        if model:
            self.window([model], limit="2G")
            self.chat("Once upon a time", "4-streaming-in-2-GiB", finished=False)  # random weights: it has no end
            self.quit()
            self.generate(model, "900MiB", "2G")


def show_deb(show: Show, model: str) -> None:
    """apt installs the .deb; apt removes it."""
    system = show.system
    before = system.files()
    system.put(deb.package(), "/tmp/gannet.deb")
    done = system.run(["apt-get", "install", "-y", "--no-install-recommends", "/tmp/gannet.deb"], root=True)
    show.check("apt installs it", done.returncode == 0, why=done.stderr[-200:])
    show.check("it says its version", system.run(["gannet", "--version"]).stdout == f"gannet {version()}\n")
    kind = system.run(["gio", "info", "-a", "standard::content-type", system.demo_file()]).stdout
    show.check("the desktop knows the type of a model file", "application/x-gguf" in kind)
    opener = system.run(["gio", "mime", "application/x-gguf"]).stdout
    show.check("and opens it with Gannet", "gannet.desktop" in opener)
    show.use(model)
    system.run(["apt-get", "purge", "-y", "--autoremove", "gannet"], root=True)
    system.run(["rm", "-f", "/tmp/gannet.deb", system.demo_file()], root=True)
    show.nothing_left(before)


def show_run(show: Show, model: str) -> None:
    """The user runs the .run, without root; its own script removes it."""
    system = show.system
    before = system.files()
    system.put(package_file("run"), "/tmp/gannet.run")
    done = system.run(["sh", "/tmp/gannet.run"])
    show.check("the user installs it", done.returncode == 0, why=done.stderr)
    opener = system.run(["gio", "mime", "application/x-gguf"]).stdout
    show.check("the desktop opens model files with it", "gannet.desktop" in opener)
    show.use(model)
    gone = system.run([f"{system.home}/.local/lib/gannet/uninstall"])
    show.check("its own script removes it", gone.returncode == 0, why=gone.stderr)
    system.run(["rm", "-f", "/tmp/gannet.run"], root=True)
    show.nothing_left(before)


def show_appimage(show: Show, model: str) -> None:
    """The user starts the AppImage where it was saved, and deletes it. Without FUSE, which a bare system has not."""
    system = show.system
    before = system.files()
    [program] = show.command(["gannet"])
    system.put(package_file("AppImage"), program)
    system.run(["chown", "wanda:", program], root=True)
    system.run(["chmod", "u+x", program])
    system.variables = {"APPIMAGE_EXTRACT_AND_RUN": "1"}
    show.check("it says its version", system.run([program, "--version"]).stdout == f"gannet {version()}\n")
    show.use(model)
    system.run(["rm", program])
    show.nothing_left(before)


def show_places(show: Show, model: str) -> None:
    """A folder with spaces and umlauts below a Japanese home, read only, without network, in the C locale."""
    system = show.system
    system.put(package_file("run"), "/tmp/gannet.run")
    prefix = f"{system.home}/Programme für Größeres"
    done = system.run(["sh", "/tmp/gannet.run", "--", "--prefix", prefix])
    show.check("it installs into a folder with spaces and umlauts", done.returncode == 0, why=done.stderr)
    system.read_only(f"{prefix}/lib/gannet")
    program = f"{prefix}/bin/gannet"
    touched = system.run(["touch", f"{prefix}/lib/gannet/new"])
    show.check("that folder is read only", touched.returncode != 0)
    line = [program, "generate", f"{prefix}/lib/gannet/_internal/assets/demo-moe.gguf", "--prompt", "Hello", "--greedy"]
    said = {}
    for name, options in HARD_PLACES.items():
        done = system.run([*line, "--tokens", "16"], **options)
        said[name] = done.stdout
        show.check(f"it answers: {name}", done.returncode == 0 and bool(done.stdout.strip()), why=done.stderr[-200:])
    show.check("with the same text", len(set(said.values())) == 1)
    system.language, system.network = "C", False
    system.start([program], show.screen.display)
    show.check("the window opens there", show.screen.wait_for_window("Gannet", 60))
    show.chat("What is a gannet?", "1-hard-place")
    show.quit()


SHOWS: dict[str, tuple[Callable[[Show, str], None], str]] = {
    "deb": (show_deb, "/home/wanda"),  # tree: allow
    "run": (show_run, "/home/wanda"),  # tree: allow
    "appimage": (show_appimage, "/home/wanda"),  # tree: allow
    "upgrade": (upgrade.show_upgrade, "/home/wanda"),  # tree: allow
    "places": (show_places, "/home/東京"),
}


def main(arguments: Sequence[str]) -> int:
    """Runs the shows asked for; exits 1 when anything was not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m installer.linux.show", description=__doc__.partition("\n")[0])
    parser.add_argument("release", help="a release of Debian: bookworm, trixie")
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--model", type=Path, help="a model larger than 2 GiB, to be streamed")
    parser.add_argument("--show", action="append", choices=SHOWS, help="only this [all]")
    args = parser.parse_args(arguments)
    args.pictures.mkdir(parents=True, exist_ok=True)
    failures = []
    base = base_system(args.release)
    built = [name for name in SHOWS if name != "appimage" or package_file("AppImage").is_file()]
    for name in args.show or built:
        action, home = SHOWS[name]
        print(f"{args.release}: {name}", flush=True)
        with System(args.release, base, home, args.model) as system, Screen(args.pictures) as screen:
            show = Show(system, screen, name)
            with contextlib.suppress(NoWindowError):
                action(show, system.model)
            failures += show.failures
    print(f"{len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
