"""Fixtures of the window's tests: offscreen, a folder of their own; Qt warnings and leaks fail a test."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYTEST_QT_API", "pyside6")

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication

from app import main as program_module
from app.engine_client import State
from app.i18n import choose_language

STAND_IN = [sys.executable, str(Path(__file__).with_name("stand_in_engine.py"))]
QUIET_THREADS = ("pytest_timeout", "Dummy-")


@pytest.fixture(autouse=True)
def english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test begins in English, with an empty home."""
    monkeypatch.setenv("GANNET_HOME", str(tmp_path / "home"))
    choose_language("en")
    yield
    choose_language("en")


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Threads, running timers and top-level widgets a test leaves behind make it fail."""
    if "qapp" not in request.fixturenames and "qtbot" not in request.fixturenames:
        yield
        return
    application: QApplication = request.getfixturevalue("qapp")
    threads = set(threading.enumerate())
    widgets = set(map(id, application.topLevelWidgets()))
    timers = {id(timer) for timer in _running_timers()}
    yield
    gc.collect()
    settle()
    QThreadPool.globalInstance().waitForDone(5000)
    left_threads = [t.name for t in set(threading.enumerate()) - threads if not t.name.startswith(QUIET_THREADS)]
    left_widgets = [repr(w) for w in application.topLevelWidgets() if id(w) not in widgets]
    left_timers = [repr(t.parent()) for t in _running_timers() if id(t) not in timers]
    assert not left_threads, f"threads left running: {left_threads}"
    assert not left_widgets, f"top-level widgets left: {left_widgets}"
    assert not left_timers, f"timers left running in: {left_timers}"


@pytest.fixture(autouse=True)
def no_qt_warnings(request: pytest.FixtureRequest) -> Iterator[None]:
    """A warning from Qt is a mistake of ours."""
    if "qapp" not in request.fixturenames and "qtbot" not in request.fixturenames:
        yield
        return
    log = request.getfixturevalue("qtlog")
    yield
    settle()
    bad = [record.message for record in log.records if record.log_type_name in ("QtWarningMsg", "QtCriticalMsg")]
    assert not bad, f"Qt warned: {bad}"


@pytest.fixture
def program(qapp: QApplication, tmp_path: Path) -> Iterator[program_module.Program]:
    """The whole program with empty folders and no engine; closed afterwards."""
    made = program_module.build(qapp, _folder(tmp_path / "config"), _folder(tmp_path / "data"))
    made.window.resize(1100, 750)
    yield made
    close(made)


@pytest.fixture
def live(qtbot: Any, qapp: QApplication, tmp_path: Path) -> Iterator[program_module.Program]:
    """The whole program on the stand-in engine, shown, with a model loaded."""
    made = program_module.build(qapp, _folder(tmp_path / "config"), _folder(tmp_path / "data"), STAND_IN)
    made.window.resize(1100, 750)
    made.window.show()
    made.begin()
    qtbot.waitUntil(lambda: made.client.state == State.READY, timeout=20_000)
    yield made
    close(made)


def close(program: program_module.Program) -> None:
    """End a program and let Qt delete its window."""
    program.window.close()
    program.close()
    program.window.deleteLater()
    program.client.deleteLater()
    program.theme.deleteLater()
    settle()


def settle() -> None:
    """Deliver deferred deletions and everything queued."""
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QCoreApplication.processEvents()


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _running_timers() -> list[Any]:
    gc.collect()
    return [one for one in gc.get_objects() if type(one) is QTimer and _active(one)]


def _active(timer: QTimer) -> bool:
    try:
        return timer.isActive()
    except RuntimeError:
        return False
