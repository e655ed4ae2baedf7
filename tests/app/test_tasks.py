"""Work off the event loop."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, QThread
from pytestqt.qtbot import QtBot

from app.tasks import Task, cancel_all, run_task
from tests.app.conftest import settle


class Owner(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.outcome: list[object] = []
        self.thread_of_outcome: QThread | None = None

    def take(self, outcome: object) -> None:
        self.outcome.append(outcome)
        self.thread_of_outcome = QThread.currentThread()


def test_the_outcome_arrives_on_the_windows_thread(qtbot: QtBot) -> None:
    """Else widgets are touched from another thread, which crashes now and then."""
    owner, worker = Owner(), []
    run_task(owner, lambda _: worker.append(threading.current_thread()) or 42, owner.take)
    qtbot.waitUntil(lambda: owner.outcome == [42], timeout=5000)
    assert owner.thread_of_outcome is owner.thread() is QThread.currentThread()
    assert worker[0] is not threading.main_thread()


def test_a_failure_is_an_outcome(qtbot: QtBot) -> None:
    """Else a failed export looks as if it were still running."""
    owner = Owner()

    def fail(_: Task) -> None:
        raise OSError("full")

    run_task(owner, fail, owner.take, owner.take)
    qtbot.waitUntil(lambda: len(owner.outcome) == 1, timeout=5000)
    assert str(owner.outcome[0]) == "full"


def test_a_cancelled_task_reports_nothing_and_can_stop_early(qtbot: QtBot) -> None:
    """Else closing the window waits for work nobody wants."""
    owner, begun = Owner(), threading.Event()

    def work(task: Task) -> None:
        begun.set()
        while not task.cancelled:
            threading.Event().wait(0.001)

    run_task(owner, work, owner.take, owner.take)
    assert begun.wait(5)
    assert cancel_all()
    settle()
    assert owner.outcome == []


def test_a_task_whose_owner_is_gone_reports_nothing(qtbot: QtBot) -> None:
    """Else an outcome arrives at a page that was closed."""
    owner, go, outcome = Owner(), threading.Event(), []
    run_task(owner, lambda _: go.wait(5), outcome.append)
    owner.deleteLater()
    settle()
    go.set()
    assert cancel_all()
    settle()
    assert outcome == []
