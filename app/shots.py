"""`./dev shots DIR`: a picture of every main screen, light and dark, at one and two pixels per point, in three sizes.

Each scale needs a process of its own, because Qt reads it at the start. Conversations are the samples of
`app.shots_content` in a temporary folder; the engine is the real one on the demo model, when it comes up.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

SCALES = (1, 2)
SIZES = {"small": (640, 480), "normal": (1100, 750), "huge": (3840, 2160)}
ENGINE_WAIT_S = 30.0
SETTLE_S = 0.2
ANSWERING_S = 2.5


def main(arguments: Sequence[str]) -> int:
    """Draw into the folder named first; returns the exit status."""
    if not arguments:
        print("usage: python -m app.shots DIR", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    if len(arguments) > 1:
        return _draw(folder, int(arguments[1]))
    for scale in SCALES:
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "QT_SCALE_FACTOR": str(scale)}
        command = [sys.executable, "-m", "app.shots", str(folder), str(scale)]
        status = subprocess.run(command, env=environment, check=False).returncode
        if status:
            return status
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
    return 0


def _draw(folder: Path, scale: int) -> int:
    from PySide6.QtWidgets import QApplication

    from app.main import build
    from app.shots_content import fill

    application = QApplication(["gannet"])
    with tempfile.TemporaryDirectory() as home:
        os.environ["GANNET_HOME"] = home
        config, data = Path(home, "config"), Path(home, "data")
        config.mkdir()
        data.mkdir()
        program = build(application, config, data)
        conversation = fill(program.store)
        program.window.show()
        program.window.context.conversations.listed.emit()
        program.begin()
        _wait(application, lambda: program.client.state.value in ("ready", "failed", "crashed"), ENGINE_WAIT_S)
        if program.client.state.value == "ready":
            _answer(application, program)
        for mode in ("light", "dark"):
            program.theme.choose(mode)
            for size, (width, height) in SIZES.items():
                if size == "huge" and scale > 1:
                    continue
                program.window.resize(width, height)
                if size == "normal" and program.client.state.value == "ready":
                    _answering(application, program, folder / f"answering-{mode}-{size}-{scale}x.png")
                _screens(application, program.window, folder, f"{mode}-{size}-{scale}x", conversation)
        program.window.close()
        program.close()
    return 0


def _answer(application: object, program: object) -> None:
    """Have the demo model answer something, so that figures and plots show a real run."""
    from app.chat.page import ChatPage
    from app.main import Program

    assert isinstance(program, Program)
    page = program.window.page("chat")
    assert isinstance(page, ChatPage)
    program.window.show_place("telemetry")
    program.window.show_place("chat")
    page.send("Tell me a story about a fox.", [])
    _wait(application, lambda: not page.branch.answering, ENGINE_WAIT_S)


def _answering(application: object, program: object, path: Path) -> None:
    """The window in the middle of an answer, with the engine panel open."""
    from app.chat.page import ChatPage
    from app.main import Program

    assert isinstance(program, Program)
    page = program.window.page("chat")
    assert isinstance(page, ChatPage)
    program.window.context.conversations.begin()
    program.window.panel.setVisible(True)
    page.send("What do gannets eat?", [])
    _wait(application, lambda: not page.branch.answering, 2.0)
    page.send("Tell me a story about a fox and an owl.", [])
    _wait(application, lambda: not page.branch.answering, ANSWERING_S)
    program.window.grab().save(str(path))
    page.branch.stop()
    _wait(application, lambda: not page.branch.answering, SETTLE_S)


def _screens(application: object, window: object, folder: Path, name: str, conversation: int) -> None:
    from PySide6.QtWidgets import QApplication

    from app.page_parts.tabs import Tabs
    from app.window.main_window import MainWindow
    from app.window.places import PLACES

    assert isinstance(window, MainWindow)
    assert isinstance(application, QApplication)
    window.context.conversations.begin()
    _save(application, window, folder / f"welcome-{name}.png")
    window.context.conversations.open(conversation)
    window.context.preferences["panel_open"] = True
    window.panel.setVisible(window.width() > 900)
    _save(application, window, folder / f"chat-{name}.png")
    window.panel.setVisible(False)
    for place in PLACES[1:]:
        window.show_place(place.name)
        _save(application, window, folder / f"{place.name}-{name}.png")
        tabs = getattr(window.page(place.name), "tabs", None)
        if isinstance(tabs, Tabs):
            for tab in tabs.names[1:]:
                tabs.go(tab)
                _save(application, window, folder / f"{place.name}-{tab}-{name}.png")
            tabs.go(tabs.names[0])


def _save(application: object, window: object, path: Path) -> None:
    _wait(application, lambda: False, SETTLE_S)
    window.grab().save(str(path))  # type: ignore[attr-defined]


def _wait(application: object, reached: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not reached() and time.monotonic() < deadline:
        application.processEvents()  # type: ignore[attr-defined]
        time.sleep(0.005)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
