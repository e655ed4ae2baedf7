"""Has at most one model: loads it, lends it out, replaces and unloads it, and survives a load that hangs."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

from engine.errors import LoadCancelledError
from engine.gguf import ModelFiles, open_model
from engine.loader import LoadedModel, load
from engine.server.engine_thread import EngineThread
from engine.server.errors import ApiError, from_exception
from engine.server.job import Job
from engine.server.model_state import Health, ModelState
from engine.server.serve_settings import ServeSettings
from engine.sessions.conversations import Conversations
from engine.sessions.model_memory import ModelMemory
from engine.sessions.session_store import SessionStore
from engine.settings import EngineSettings

_log = logging.getLogger(__name__)
Result = TypeVar("Result")

# A load that does not end within this time after it was cancelled is left to itself.
_CANCEL_SECONDS = 1.5


class Attempt:
    """One load: what to load, whether it is still wanted, and its outcome."""

    def __init__(self, model_id: str, path: Path, settings: EngineSettings, generation: int) -> None:
        self.model_id = model_id
        self.path = path
        self.settings = settings
        self.generation = generation
        self.cancelled = threading.Event()
        self.done: Future[None] = Future()
        self._lock = threading.Lock()
        self._settled = False

    @property
    def settled(self) -> bool:
        """Whether its outcome has been decided."""
        return self._settled

    def settle(self) -> bool:
        """Claim the right to decide its outcome; False if somebody else has it."""
        with self._lock:
            mine, self._settled = not self._settled, True
            return mine


class ModelHost:
    """The model and the thread that computes with it.

    `load`, `cancel_load`, `unload`, `submit` and `run` belong to the event loop; `borrow` may be used by any thread.
    """

    def __init__(self, settings: ServeSettings, state: ModelState) -> None:
        self._settings = settings
        self.state = state
        self._thread = self._new_thread()
        self._lock = threading.Lock()
        self._returned = threading.Condition(self._lock)
        self._borrowers = 0
        self._loaded: LoadedModel | None = None
        self._model_id: str | None = None
        self._generation = 0
        self._attempt: Attempt | None = None

    def _new_thread(self) -> EngineThread:
        return EngineThread(self.state.set_busy, self._settings.session_idle_seconds)

    @property
    def model_id(self) -> str | None:
        """The loaded model's id."""
        return self._model_id

    @property
    def attempt(self) -> Attempt | None:
        """The latest load."""
        return self._attempt

    @property
    def generation(self) -> int:
        """Grows with every load; tokens and jobs belong to one generation."""
        return self._generation

    @contextlib.contextmanager
    def borrow(self) -> Iterator[LoadedModel]:
        """The loaded model for a short use of what needs no computing; it is not closed meanwhile."""
        with self._lock:
            loaded = self._loaded
            if loaded is None:
                raise self.why_no_model()
            self._borrowers += 1
        try:
            yield loaded
        finally:
            with self._lock:
                self._borrowers -= 1
                self._returned.notify_all()

    def why_no_model(self) -> ApiError:
        """The error of a request that needs a model when there is none."""
        health = self.state.health
        if health.state == "loading":
            return ApiError(503, f"{health.model} is still loading", "model_loading")
        if health.error is not None:
            return ApiError(503, f"no model is loaded: {health.error}", "model_failed")
        return ApiError(503, "no model is loaded; load one or name one of /v1/models", "no_model")

    def submit(self, job: Job) -> None:
        """Queue an answer."""
        self._thread.submit(job)

    async def run(self, action: Callable[[LoadedModel], Result], *, exclusive: bool = False) -> Result:
        """Run `action` on the engine thread between two steps; `exclusive`: it may change what the context holds."""
        thread = self._thread

        def act() -> Result:
            with self.borrow() as loaded:
                return thread.exclusively(lambda: action(loaded)) if exclusive else action(loaded)

        return await asyncio.wrap_future(thread.call(act))

    def load(self, model_id: str, path: Path, settings: EngineSettings) -> Attempt:
        """Begin to load; the model before is unloaded first, its answers end. Returns at once."""
        if self._attempt is not None and not self._attempt.done.done():
            raise ApiError(409, f"{self._attempt.model_id} is still loading; cancel that first", "load_in_progress")
        self._generation += 1
        attempt = self._attempt = Attempt(model_id, path, settings, self._generation)
        self.state.set(Health("loading", model_id, 0.0, "Starting"))
        thread = self._thread
        thread.call(lambda: self._load(attempt, thread))
        return attempt

    async def cancel_load(self) -> bool:
        """Cancel a load; False if there is none. A load that hangs is left to itself and a fresh thread takes over."""
        attempt = self._attempt
        if attempt is None or attempt.done.done():
            return False
        attempt.cancelled.set()
        with contextlib.suppress(Exception):  # its outcome is told by the state, not here
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(attempt.done)), _CANCEL_SECONDS)
        if attempt.settle():
            self._abandon(attempt)
        return True

    def _abandon(self, attempt: Attempt) -> None:
        _log.warning("loading %s does not react; it is left to itself", attempt.model_id)
        self._thread.stop()  # it ends, and closes what it loaded, whenever it comes back
        self._thread = self._new_thread()
        self.state.set(Health("empty"))
        attempt.done.set_exception(LoadCancelledError(f"loading {attempt.model_id} was cancelled"))

    async def unload(self) -> None:
        """Unload the model; answers in progress end with an error. A load in progress is cancelled."""
        if await self.cancel_load():
            return
        reason = ApiError(503, "the model was unloaded", "model_unloaded")
        await asyncio.wrap_future(self._thread.call(lambda: self._unload(reason)))
        self.state.set(Health("empty"))

    async def close(self) -> None:
        """Unload and end the engine thread."""
        await self.cancel_load()
        self._withdraw()
        self._thread.stop()
        await asyncio.to_thread(self._thread.join, 5.0)

    # On the engine thread

    def _withdraw(self) -> None:
        """Lend the model to nobody any more and wait until everyone has given it back."""
        with self._lock:
            self._loaded = self._model_id = None
            self._returned.wait_for(lambda: self._borrowers == 0)

    def _unload(self, reason: ApiError) -> None:
        self._withdraw()
        self._thread.take_model_away(reason)

    def _load(self, attempt: Attempt, thread: EngineThread) -> None:
        self._withdraw()
        thread.take_model_away(ApiError(503, f"another model, {attempt.model_id}, was loaded", "model_unloaded"))
        try:
            loaded = self._open(attempt)
        except BaseException as error:  # noqa: BLE001 - becomes the state that clients see
            self._load_failed(attempt, error)
            return
        if not attempt.settle():
            loaded.close()
            return
        self._publish(attempt, loaded, thread)
        attempt.done.set_result(None)

    def _open(self, attempt: Attempt) -> LoadedModel:
        def progress(share: float, phase: str) -> None:
            if not attempt.settled:
                self.state.progress(share, phase)

        files = open_model(attempt.path)
        loaded = load(files, attempt.settings, progress=progress, cancelled=attempt.cancelled.is_set)
        if attempt.cancelled.is_set():
            loaded.close()
            raise LoadCancelledError(f"loading {attempt.model_id} was cancelled")
        return loaded

    def _load_failed(self, attempt: Attempt, error: BaseException) -> None:
        if not attempt.settle():
            return
        if isinstance(error, LoadCancelledError):
            self.state.set(Health("empty"))
        else:
            _log.warning("%s could not be loaded: %s", attempt.model_id, error)
            self.state.set(Health("failed", attempt.model_id, error=from_exception(error)))
        attempt.done.set_exception(error)

    def _publish(self, attempt: Attempt, loaded: LoadedModel, thread: EngineThread) -> None:
        memory = ModelMemory(loaded.llama)
        store = SessionStore(
            self._settings.state_folder / "sessions",
            fingerprint(loaded.files, loaded.settings),
            self._settings.session_memory_bytes,
            self._settings.session_disk_bytes,
        )
        thread.set_model(loaded, Conversations(memory, store), attempt.generation)
        with self._lock:
            self._loaded, self._model_id = loaded, attempt.model_id
        if loaded.monitor is not None:
            loaded.monitor.on_change = lambda change: self.state.cache_changed(asdict(change))
        for note in loaded.notes:
            _log.info("%s: %s", attempt.model_id, note)
        _log.info("%s loaded in %.1f s", attempt.model_id, loaded.load_seconds)
        self.state.set(replace(Health("ready", attempt.model_id), progress=1.0))


def fingerprint(files: ModelFiles, settings: EngineSettings) -> str:
    """Names what a conversation's state depends on: the model's files and how the context lays out its cells."""
    parts = [files.architecture, files.name, str(files.total_bytes), str(settings.flash_attention)]
    for path in files.paths:
        facts = path.stat()
        parts += [path.name, str(facts.st_size), str(facts.st_mtime_ns)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
