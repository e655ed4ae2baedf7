"""Starts the engine as a child process, keeps its last lines, and says why it ended."""

from __future__ import annotations

import json
import secrets
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

import gannet
from app.engine_client.problem import Crash, crash_reason
from app.i18n import tr

LOG_LINES = 500
START_TIMEOUT_MS = 60_000
STOP_WAIT_MS = 2_000


def engine_command() -> list[str]:
    """The command line of the private engine of this installation."""
    arguments = ["serve", "--port", "0", "--private"]
    return gannet.packaged(*arguments) or [sys.executable, str(Path(gannet.__file__).resolve()), *arguments]


class EngineProcess(QObject):
    """The engine process.

    Signals: `ready(url, key)` once it listens; `died(Crash)` when it ended unasked or did not come up; `line(text)` for
    every line it wrote. Attributes: `log` the last `LOG_LINES` lines.
    """

    ready = Signal(str, str)
    died = Signal(object)
    line = Signal(str)

    def __init__(self, parent: QObject, command: list[str] | None = None) -> None:
        super().__init__(parent)
        self._command = command
        self._process: QProcess | None = None
        self._key = ""
        self._folders: list[str] = []
        self._listening = False
        self._rest = {"out": b"", "err": b""}
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(START_TIMEOUT_MS)
        self._patience.timeout.connect(self._too_slow)

    @property
    def pid(self) -> int:
        """Process id, 0 while there is none."""
        return self._process.processId() if self._process else 0

    def start(self) -> None:
        """Start it; does nothing while it runs."""
        if self._process is not None:
            return
        self._listening = False
        self._rest = {"out": b"", "err": b""}
        self._key = secrets.token_urlsafe(32)
        self._process = process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read_output)
        process.readyReadStandardError.connect(self._read_errors)
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._failed)
        command = self._command or engine_command()
        self._patience.start()
        process.start(command[0], command[1:])
        process.write(json.dumps({"key": self._key, "models": self._folders}).encode() + b"\n")

    def allow_folders(self, folders: Sequence[str]) -> None:
        """Let the engine read models in `folders`, now and after every start: it reads nowhere else."""
        new = [folder for folder in folders if folder and folder not in self._folders]
        self._folders += new
        if new and self._process is not None:
            self._process.write(json.dumps({"models": new}).encode() + b"\n")

    def serve_folder(self, folder: str) -> None:
        """Let the engine read models in `folder`: it opens nothing that was not named to it this way."""
        if self._process is not None:
            self._process.write(json.dumps({"models": [folder]}).encode() + b"\n")

    def stop(self) -> None:
        """End it: its input closes, which it obeys; after `STOP_WAIT_MS` it is killed. Blocks at most that long."""
        process = self._release()
        if process is None:
            return
        process.closeWriteChannel()
        if not process.waitForFinished(STOP_WAIT_MS):
            process.kill()
            process.waitForFinished(STOP_WAIT_MS)
        process.deleteLater()

    def kill(self) -> None:
        """End it at once, as a crash would; reported as one."""
        if self._process is not None:
            self._process.kill()

    def excerpt(self, lines: int = 40) -> str:
        """The last `lines` lines it wrote."""
        return "\n".join(list(self.log)[-lines:])

    def _release(self) -> QProcess | None:
        self._patience.stop()
        process, self._process = self._process, None
        if process is not None:
            process.blockSignals(True)  # whatever it still reports is no news
        return process

    def _read_output(self) -> None:
        if self._process is not None:
            self._take("out", bytes(self._process.readAllStandardOutput().data()))

    def _read_errors(self) -> None:
        if self._process is not None:
            self._take("err", bytes(self._process.readAllStandardError().data()))

    def _take(self, channel: str, received: bytes) -> None:
        lines = (self._rest[channel] + received).split(b"\n")
        self._rest[channel] = lines.pop()
        for raw in lines:
            text = raw.decode("utf-8", "replace").rstrip("\r")
            if channel == "out" and not self._listening and self._greeted(text):
                continue
            self.log.append(text)
            self.line.emit(text)

    def _greeted(self, text: str) -> bool:
        try:
            url = json.loads(text)["url"]
        except (ValueError, KeyError, TypeError):
            return False
        self._listening = True
        self._patience.stop()
        self.ready.emit(str(url), self._key)
        return True

    def _too_slow(self) -> None:
        self._give_up(tr("The engine did not come up within {s} seconds.").format(s=START_TIMEOUT_MS // 1000))

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self._process is not None:
            self._give_up(tr("The engine could not be started: {why}.").format(why=self._process.errorString()))

    def _give_up(self, reason: str) -> None:
        process = self._release()
        if process is not None:
            process.kill()
            process.waitForFinished(STOP_WAIT_MS)
            process.deleteLater()
        self.died.emit(Crash(reason, self.excerpt()))

    def _finished(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        self._read_output()
        self._read_errors()
        process = self._release()
        if process is not None:
            process.deleteLater()
            reason = crash_reason(exit_code, status == QProcess.ExitStatus.CrashExit)
            self.died.emit(Crash(reason, self.excerpt()))
