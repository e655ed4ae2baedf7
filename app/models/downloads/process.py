"""The worker process as the window sees it: a job in, events out, and an end that never leaves a process behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal

import gannet

PACKAGE_ROOT = Path(__file__).resolve().parents[3]
END_MS = 3000


def worker_command() -> list[str]:
    """How to start the worker: a module in a checkout or installation, a hidden command of the packaged program."""
    return gannet.packaged(gannet.DOWNLOAD_WORKER) or [sys.executable, "-m", "app.models.downloads.worker"]


class WorkerProcess(QObject):
    """One child process with one job.

    Signals: `event(dict)` for each line it says; `ended()` once, when it is gone by itself.
    """

    event = Signal(dict)  # type: ignore[assignment]
    ended = Signal()

    def __init__(self, job: dict[str, Any], parent: QObject) -> None:
        super().__init__(parent)
        self._job = job
        self._rest = b""
        self._process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        environment.insert("HF_HUB_DISABLE_TELEMETRY", "1")
        environment.insert("HF_HUB_DISABLE_XET", "1")
        environment.insert("PYTHONPATH", str(PACKAGE_ROOT))
        self._process.setProcessEnvironment(environment)
        self._process.setStandardErrorFile(QProcess.nullDevice())
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._error)

    def start(self) -> None:
        """Start it and hand it the job."""
        program, *arguments = worker_command()
        self._process.start(program, arguments)
        self._process.write(json.dumps(self._job).encode("utf-8") + b"\n")

    def end(self) -> None:
        """Make it leave now and wait for that; nothing is reported any more."""
        self._process.finished.disconnect(self._finished)
        self._process.errorOccurred.disconnect(self._error)
        self._process.readyReadStandardOutput.disconnect(self._read)
        self._process.closeWriteChannel()
        if self._process.state() != QProcess.ProcessState.NotRunning and not self._process.waitForFinished(END_MS):
            self._process.kill()
            self._process.waitForFinished(END_MS)
        self.deleteLater()

    def _read(self) -> None:
        *lines, self._rest = (self._rest + self._process.readAllStandardOutput().data()).split(b"\n")
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and "event" in event:
                self.event.emit(event)

    def _finished(self) -> None:
        self._read()
        self.ended.emit()
        self.deleteLater()

    def _error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._finished()
