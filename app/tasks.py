"""`run_task`: the one way to do slow work off the event loop.

The work runs in a thread of Qt's pool; its outcome arrives on the window's thread. A task whose owner is gone reports
to nobody. Work must not touch widgets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

T = TypeVar("T")


class Task(QObject):
    """A running piece of work.

    Signals: `done(result)` or `failed(exception)`, then nothing more; both on the thread that called `run_task`.
    """

    done = Signal(object)
    failed = Signal(Exception)

    def __init__(self, owner: QObject | None) -> None:
        super().__init__()
        self._cancelled = False
        if owner is not None:
            owner.destroyed.connect(self.cancel)

    def cancel(self) -> None:
        """Drop the outcome. Work that asks `cancelled` can stop early."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether anybody still wants the outcome."""
        return self._cancelled


class _Work(QRunnable):
    def __init__(self, task: Task, work: Callable[[Task], Any]) -> None:
        super().__init__()
        self._task = task
        self._work = work

    def run(self) -> None:
        task = self._task
        try:
            result = self._work(task)
        except Exception as problem:  # noqa: BLE001 - whatever went wrong is the outcome
            if not task.cancelled:
                task.failed.emit(problem)
        else:
            if not task.cancelled:
                task.done.emit(result)
        finally:
            _running.discard(task)


_running: set[Task] = set()


def run_task(
    owner: QObject | None,
    work: Callable[[Task], T],
    done: Callable[[T], object] | None = None,
    failed: Callable[[Exception], object] | None = None,
) -> Task:
    """Run `work(task)` in the pool, then call `done(result)` or `failed(exception)` on this thread.

    `owner` is the widget or object that wants the outcome: when it is destroyed the outcome is dropped. Connect bound
    methods of QObjects so that Qt delivers on their thread.
    """
    task = Task(owner)
    if done is not None:
        task.done.connect(done)
    if failed is not None:
        task.failed.connect(failed)
    _running.add(task)
    QThreadPool.globalInstance().start(_Work(task, work))
    return task


def cancel_all(wait_ms: int = 5000) -> bool:
    """Cancel everything and wait; False when some work was still running after `wait_ms`."""
    for task in list(_running):
        task.cancel()
    return QThreadPool.globalInstance().waitForDone(wait_ms)
