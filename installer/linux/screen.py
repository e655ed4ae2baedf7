"""A screen without a monitor, with a window manager, a keyboard and a camera."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

SIZE = "1280x860x24"


class Screen:
    """A context manager: an X server that nothing else uses. Attribute: `display`, its name."""

    def __init__(self, pictures: Path) -> None:
        self._pictures = pictures

    def __enter__(self) -> Screen:
        reading, writing = os.pipe()
        server = ["Xvfb", "-displayfd", str(writing), "-screen", "0", SIZE, "-nolisten", "tcp", "-ac"]
        self._server = subprocess.Popen(server, pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as number:
            self.display = f":{number.readline().strip()}"
        self._env = os.environ | {"DISPLAY": self.display}
        self._manager = subprocess.Popen(["openbox"], env=self._env, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._manager, self._server):
            process.terminate()
            process.wait()

    def _tool(self, *command: str) -> str:
        done = subprocess.run(["xdotool", *command], env=self._env, capture_output=True, text=True, check=False)
        return done.stdout

    def wait_for_window(self, title: str, seconds: float) -> bool:
        """Whether a window with that title is seen within the time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._tool("search", "--onlyvisible", "--name", title).strip():
                return True
            time.sleep(0.05)
        return False

    def click(self, title: str, across: float, down: float) -> None:
        """Click into a window, at these shares of its width and height."""
        window = self._tool("search", "--onlyvisible", "--name", title).split()[-1]
        lines = self._tool("getwindowgeometry", "--shell", window).splitlines()
        found = dict(line.split("=", 1) for line in lines if "=" in line)
        x, y = (str(round(int(found[key]) * share)) for key, share in (("WIDTH", across), ("HEIGHT", down)))
        self._tool("mousemove", "--window", window, x, y, "click", "1")

    def type(self, text: str) -> None:
        """Type a line and its Enter into whatever has the keyboard."""
        self._tool("type", "--delay", "20", text)
        self._tool("key", "Return")

    def keys(self, combination: str) -> None:
        """Press keys together."""
        self._tool("key", combination)

    def picture(self, name: str) -> None:
        """Write what the screen shows to `NAME.png`."""
        path = self._pictures / f"{name}.png"
        subprocess.run(["import", "-window", "root", path], env=self._env, check=False)
