"""The one thread that computes. Everything that touches the model's context happens here, between two steps.

Answers take turns: a run works until it is done or, if others wait, for a slice of time; its state is then copied
aside and the next one goes on. A slice is long beside the time that copying costs.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from engine.loader import LoadedModel
from engine.server.answer_run import AnswerRun
from engine.server.errors import ApiError, from_exception
from engine.server.fair_queue import FairQueue
from engine.server.job import Job
from engine.server.request import Failed
from engine.sessions.conversations import Conversations

_log = logging.getLogger(__name__)
Result = TypeVar("Result")

_SLICE_SECONDS = 1.0
_SLICE_PER_SWAP = 20.0
_STARTED_AT_ONCE = 4


class EngineThread:
    """Works on jobs for the model it was given.

    Other threads call `submit`, `call` and `stop`. `on_busy` is told when work begins and ends; after `idle_seconds`
    without work the conversation in the context is saved.
    """

    def __init__(self, on_busy: Callable[[bool], None], idle_seconds: float) -> None:
        self._on_busy = on_busy
        self._idle_seconds = idle_seconds
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stopping = False
        self._waiting: FairQueue[AnswerRun] = FairQueue()
        self._parked: FairQueue[AnswerRun] = FairQueue()
        self._current: AnswerRun | None = None
        self._slice_end = 0.0
        self._slice = _SLICE_SECONDS
        self._busy = False
        self._unsaved = False
        self._loaded: LoadedModel | None = None
        self._conversations: Conversations | None = None
        self._generation = 0
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    # Called from other threads

    def submit(self, job: Job) -> None:
        """Queue a job; its events tell the rest."""
        self._inbox.put(lambda: self._accept(job))

    def call(self, action: Callable[[], Result]) -> Future[Result]:
        """Have `action` run on this thread between two steps."""
        future: Future[Result] = Future()

        def act() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(action())
                except BaseException as error:  # noqa: BLE001 - handed to the one who waits
                    future.set_exception(error)

        self._inbox.put(act)
        return future

    def stop(self) -> None:
        """End after the current step; jobs end with an error and the model is closed."""

        def end() -> None:
            self._stopping = True

        self._inbox.put(end)

    def join(self, seconds: float) -> bool:
        """Wait for the end; False if it did not come in time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    # On this thread

    def set_model(self, loaded: LoadedModel, conversations: Conversations, generation: int) -> None:
        """Work for this model from now on; the one before must have been taken away."""
        self._loaded, self._conversations, self._generation = loaded, conversations, generation

    def exclusively(self, action: Callable[[], Result]) -> Result:
        """Run `action`, which may do with the context what it likes: the answer in it is put aside before."""
        if self._current is not None:
            self._park(self._current)
        if self._conversations is not None:
            self._conversations.keep()
        return action()

    def take_model_away(self, reason: ApiError) -> None:
        """End all answers with `reason`, save the conversation and close the model."""
        for run in (self._current, *self._waiting, *self._parked):
            if run is not None:
                run.fail(reason)
        self._current, self._waiting, self._parked = None, FairQueue(), FairQueue()
        loaded, conversations = self._loaded, self._conversations
        self._loaded = self._conversations = None
        self._unsaved = False
        self._tell_busy()
        if conversations is not None:
            conversations.close()
        if loaded is not None:
            loaded.close()

    def _run(self) -> None:
        while not self._stopping:
            self._read_inbox()
            if not self._stopping:
                self._work()
        self.take_model_away(ApiError(503, "the engine is shutting down", "shutting_down"))

    def _has_work(self) -> bool:
        return self._current is not None or len(self._waiting) > 0 or len(self._parked) > 0

    def _read_inbox(self) -> None:
        wait = None if not self._unsaved else self._idle_seconds
        try:
            message = self._inbox.get_nowait() if self._has_work() else self._inbox.get(timeout=wait)
            while True:
                self._obey(message)
                message = self._inbox.get_nowait()
        except queue.Empty:
            if not self._has_work() and self._unsaved:
                self._save_conversation()

    @staticmethod
    def _obey(message: Callable[[], None]) -> None:
        try:
            message()
        except Exception:  # noqa: BLE001 - a defect in one request must not end the thread that all others need
            _log.exception("a request to the engine failed")

    def _save_conversation(self) -> None:
        self._unsaved = False
        if self._conversations is None:
            return
        try:
            self._conversations.keep()
            self._conversations.store.persist()
        except MemoryError:
            _log.warning("the conversation could not be saved: not enough memory")

    def _accept(self, job: Job) -> None:
        loaded, conversations = self._loaded, self._conversations
        if loaded is None or conversations is None or job.prepared.model_generation != self._generation:
            job.emit(Failed(ApiError(503, "the model was unloaded before the answer began", "model_unloaded")))
            return
        self._waiting.put(job.client, AnswerRun(job, loaded, conversations))

    def _work(self) -> None:
        self._drop_cancelled()
        if self._current is None or (self._slice_is_over() and self._current.may_park(self._parked)):
            self._turn_to_next()
        self._tell_busy()
        if self._current is not None and self._current.step():
            self._current = None
            self._unsaved = True
            self._tell_busy()

    def _drop_cancelled(self) -> None:
        for line in (self._waiting, self._parked):
            for run in [run for run in line if run.job.cancelled]:
                line.remove(run)
                run.step()  # gives the job its last event

    def _slice_is_over(self) -> bool:
        return (len(self._waiting) > 0 or len(self._parked) > 0) and time.monotonic() >= self._slice_end

    def _turn_to_next(self) -> None:
        started = time.monotonic()
        if self._current is not None:
            self._park(self._current)
        room = len(self._parked) < _STARTED_AT_ONCE
        run = (self._waiting.take() if room else None) or self._parked.take() or self._waiting.take()
        if run is None:
            return
        try:
            run.activate()
        except Exception as error:  # noqa: BLE001 - a failure ends this answer, never the thread
            _log.info("an answer could not begin: %s", error)
            run.fail(from_exception(error))
            return
        self._current = run
        now = time.monotonic()
        self._slice = max(_SLICE_SECONDS, _SLICE_PER_SWAP * (now - started))
        self._slice_end = now + self._slice

    def _park(self, run: AnswerRun) -> None:
        self._current = None
        run.park()
        self._parked.put(run.job.client, run)

    def _tell_busy(self) -> None:
        busy = self._has_work()
        if busy != self._busy:
            self._busy = busy
            self._on_busy(busy)
