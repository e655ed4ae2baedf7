"""`./dev shots DIR`: a picture of every screen, in several looks: one and two pixels per point, German, large type.

Each look needs a process of its own, because Qt reads its scale, and the window its language, at the start.
Conversations and the wizard's figures are the samples of `app.shots_content` in a temporary folder; the engine is the
real one on the demo model, when it comes up.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.main import Program

SIZES = {"small": (640, 480), "normal": (1100, 750), "huge": (3840, 2160)}
PLACES_AT_ANY_SIZE = ("chat", "telemetry", "models-library")
ENGINE_WAIT_S = 30.0
SETTLE_S = 0.2
ANSWERING_S = 2.5


@dataclass(frozen=True)
class Look:
    """How one set of pictures is made: pixels per point, preferences, and which sizes in which modes."""

    scale: int
    preferences: dict[str, Any]
    sizes: tuple[str, ...]
    modes: tuple[str, ...] = ("light", "dark")


LOOKS = {
    "1x": Look(1, {"language": "en"}, ("small", "normal", "huge")),
    "2x": Look(2, {"language": "en"}, ("small", "normal")),
    "german": Look(1, {"language": "de"}, ("small", "normal"), ("light",)),
    "large": Look(1, {"language": "en", "font_points": 18.0}, ("normal",), ("dark",)),
}


def main(arguments: Sequence[str]) -> int:
    """Draw into the folder named first, all looks or those named after it; returns the exit status."""
    if not arguments or any(name not in LOOKS for name in arguments[1:]):
        print(f"usage: python -m app.shots DIR [{'|'.join(LOOKS)}]...", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    if os.environ.get("GANNET_SHOTS"):
        return _draw(folder, arguments[1])
    for name in arguments[1:] or LOOKS:
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "GANNET_SHOTS": "1"}
        environment["QT_SCALE_FACTOR"] = str(LOOKS[name].scale)
        status = subprocess.run(
            [sys.executable, "-m", "app.shots", str(folder), name], env=environment, check=False
        ).returncode
        if status:
            return status
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
    return 0


def _draw(folder: Path, name: str) -> int:
    from PySide6.QtWidgets import QApplication

    from app.main import build

    application = QApplication(["gannet"])
    with tempfile.TemporaryDirectory() as home:
        os.environ["GANNET_HOME"] = home
        config, data = Path(home, "config"), Path(home, "data")
        config.mkdir()
        data.mkdir()
        written = {"version": 1, **LOOKS[name].preferences}
        (config / "preferences.json").write_text(json.dumps(written), encoding="utf-8")
        program = build(application, config, data)
        try:
            Shots(application, program, folder, name).draw(LOOKS[name])
        finally:
            program.window.close()
            program.close()
    return 0


class Shots:
    """One look's pictures."""

    def __init__(self, application: QApplication, program: Program, folder: Path, name: str) -> None:
        from app.shots_content import fill

        self._application, self._program, self._window = application, program, program.window
        self._folder, self._name = folder, name
        self._conversations = fill(program.store)
        self._page: Any = program.window.page("chat")

    def draw(self, look: Look) -> None:
        """Start the program and take every picture."""
        self._window.show()
        self._window.context.conversations.listed.emit()
        self._program.begin()
        self._wait(lambda: self._program.client.state.value in ("ready", "failed", "crashed"), ENGINE_WAIT_S)
        ready = self._program.client.state.value == "ready"
        if ready:
            self._page.send("Tell me a story about a fox.", [])
            self._wait(lambda: not self._page.branch.answering, ENGINE_WAIT_S)
        for mode in look.modes:
            self._program.theme.choose(mode)  # type: ignore[arg-type]
            for size in look.sizes:
                self._window.resize(*SIZES[size])
                name = f"{mode}-{size}-{self._name}"
                if size == "normal" and ready:
                    self._answering(name)
                self._screens(name, None if size != "huge" else PLACES_AT_ANY_SIZE)

    def _answering(self, name: str) -> None:
        """The window in the middle of an answer, with the engine panel open."""
        self._window.show_place("chat")
        self._window.context.conversations.begin()
        self._panel(True)
        self._page.send("What do gannets eat?", [])
        self._wait(lambda: not self._page.branch.answering, 2.0)
        self._page.send("Tell me a story about a fox and an owl.", [])
        self._wait(lambda: not self._page.branch.answering, ANSWERING_S)
        self._window.grab().save(str(self._folder / f"answering-{name}.png"))
        self._page.branch.stop()
        self._wait(lambda: not self._page.branch.answering, SETTLE_S)

    def _screens(self, name: str, only: Sequence[str] | None) -> None:
        for screen, show in self._all_screens().items():
            if only is None or screen in only:
                show()
                self._wait(lambda: False, SETTLE_S)
                self._window.grab().save(str(self._folder / f"{screen}-{name}.png"))
        self._window.show_place("chat")

    def _all_screens(self) -> dict[str, Callable[[], object]]:
        """Name of a picture -> what brings its screen to the front."""
        from app.shots_content import TUNING

        chats = self._window.context.conversations

        def chat(which: str) -> Callable[[], object]:
            def show() -> None:
                chats.open(self._conversations[which])
                self._panel(True)

            return show

        def tab(place: str, which: str) -> Callable[[], object]:
            def show() -> None:
                self._panel(False)
                self._window.show_place(place)
                page: Any = self._window.page(place)
                page.tabs.go(which)
                page.shown()
                if which == "presets":
                    self._wait(lambda: bool(page.presets.rows), ENGINE_WAIT_S)  # the engine says which there are

            return show

        def tuning(events: Sequence[dict[str, Any]]) -> Callable[[], object]:
            def show() -> None:
                tab("settings", "tune")()
                for event in events:
                    self._program.client.tune_event.emit(event)

            return show

        def place(which: str) -> Callable[[], object]:
            def show() -> None:
                self._panel(False)
                self._window.show_place(which)

            return show

        def welcome() -> None:
            chats.begin()
            self._window.show_place("chat")

        def about() -> None:
            self._tuning_page().keep()
            tab("settings", "about")()

        return {
            "welcome": welcome,
            "chat": chat("long"),
            "chat-right-to-left": chat("arabic"),
            "models-library": tab("models", "library"),
            "models-catalogue": tab("models", "catalogue"),
            "models-downloads": tab("models", "downloads"),
            "telemetry": place("telemetry"),
            "server": lambda: self._serve(False),
            "server-open": lambda: self._serve(True),
            "settings-window": tab("settings", "window"),
            "settings-presets": tab("settings", "presets"),
            "tuning-start": tab("settings", "tune"),
            "tuning-measuring": tuning(TUNING[:-1]),
            "tuning-result": tuning(TUNING[-1:]),
            "settings-about": about,
        }

    def _serve(self, is_open: bool) -> None:
        """The server page, with other programs let in or not; on a port that is free, with a key that opens nothing."""
        self._panel(False)
        self._window.show_place("server")
        with socket.create_server(("127.0.0.1", 0)) as free:
            settings = {"port": free.getsockname()[1], "key": "the-key-of-this-example"}
        self._window.context.preferences["server"] = settings
        page: Any = self._window.page("server")
        page.shown()
        page.apply(on=is_open)
        self._wait(lambda: bool(self._program.client.door.url) is is_open, ENGINE_WAIT_S)

    def _panel(self, is_open: bool) -> None:
        action = self._window.context.actions["view.panel"]
        if action.isChecked() != is_open:
            action.trigger()

    def _tuning_page(self) -> Any:
        settings: Any = self._window.page("settings")
        return settings.tune

    def _wait(self, reached: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not reached() and time.monotonic() < deadline:
            self._application.processEvents()
            time.sleep(0.005)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
