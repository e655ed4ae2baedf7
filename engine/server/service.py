"""Everything the routes work with, in one place: the model, its settings, events, log, folders and the tuner."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.server import tracing
from engine.server.door import Door
from engine.server.errors import ApiError
from engine.server.event_log import EventLog
from engine.server.log_lines import LogLines
from engine.server.model_folders import ModelFolders
from engine.server.model_host import Attempt, ModelHost
from engine.server.model_state import Health, ModelState
from engine.server.request_log import RequestLog
from engine.server.serve_settings import ServeSettings
from engine.server.tuning import Tune, Tuning
from engine.settings import EngineSettings, live_settings, make_settings

_log = logging.getLogger(__name__)
_TELEMETRY_SECONDS = 0.1
# Names that stand for "whatever is loaded", for clients that must send some name.
ANY_MODEL = frozenset({"", "default", "gannet"})


class Claim:
    """The right to use the loaded model, `model`; a context manager that gives it back. Belongs to the event loop."""

    def __init__(self, model: str, give_back: Callable[[], None]) -> None:
        self.model = model
        self._give_back: Callable[[], None] | None = give_back

    def release(self) -> None:
        """Give it back; doing so again does nothing."""
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back()

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Service:
    """The service's parts and what it takes more than one of them to do. Belongs to the event loop."""

    def __init__(self, settings: ServeSettings, engine_settings: EngineSettings, version: str) -> None:
        self.settings = settings
        self.version = version
        self.engine_settings = engine_settings
        self.events = EventLog()
        self.log = LogLines(self.events)
        self.requests = RequestLog()
        self.state = ModelState(self.events, version)
        self.folders = ModelFolders(settings.model_folders)
        self.host = ModelHost(settings, self.state)
        self.tuning = Tuning()
        self.door = Door(settings.limits)
        self.shutdown = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._swap = asyncio.Lock()
        self._claims = 0
        self._unclaimed = asyncio.Event()
        self._unclaimed.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin to publish. Call once the loop runs."""
        self._loop = asyncio.get_running_loop()
        self.events.attach(self._loop)
        logging.getLogger("engine").addHandler(self.log)
        self.spawn(self._publish_telemetry())

    async def stop(self) -> None:
        """End what runs in the background, save the conversation and close the model."""
        for task in self._tasks:
            task.cancel()
        self.tuning.cancel()
        await self.host.close()
        logging.getLogger("engine").removeHandler(self.log)

    def request_shutdown(self) -> None:
        """End the service. Any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.shutdown.set)

    def spawn(self, work: Any) -> None:
        """Run a coroutine until the service stops."""
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # The model

    async def resolve(self, named: str) -> Path:
        """The path of a model named by id or path. Raises `ApiError` 404."""
        return await asyncio.to_thread(self.folders.resolve, named, self.settings.folder_patience)

    def load(self, path: Path, changes: Mapping[str, Any]) -> Attempt:
        """Begin to load the model at `path`, with changed settings."""
        if self.tuning.running:
            raise ApiError(409, "a tuning is running; cancel it first", "tuning_in_progress")
        settings = make_settings(self.engine_settings.model_dump() | dict(changes))
        attempt = self.host.load(self.model_id(path), path, settings)
        self.engine_settings = settings
        return attempt

    def model_id(self, path: Path) -> str:
        """The id under which clients know the model at `path`."""
        return next((entry.id for entry in self.folders.models() if entry.path == path), path.stem)

    async def claim(self, named: str) -> Claim:
        """Have the model that a request names, loaded if it is another one; it stays until the claim is released.

        Requests get their models in the order in which they came: one that needs another model waits until those
        before it have released theirs, and those after it wait for it.
        Raises `ApiError` 404 for an unknown name and 503 if there is no model or it cannot be loaded.
        """
        path = None if named in ANY_MODEL or named == self.host.model_id else await self.resolve(named)
        async with self._swap:
            attempt = self.host.attempt
            if attempt is not None:
                await _outcome(attempt)
            if not self._is_loaded(named, path):
                if path is None:
                    raise self.host.why_no_model()
                await self._unclaimed.wait()
                await _outcome(self.load(path, {}))
            loaded = self.host.model_id
            if loaded is None:
                raise self.host.why_no_model()
            self._claims += 1
            self._unclaimed.clear()
            return Claim(loaded, self._release)

    def _release(self) -> None:
        self._claims -= 1
        if self._claims == 0:
            self._unclaimed.set()

    def _is_loaded(self, named: str, path: Path | None) -> bool:
        loaded = self.host.model_id
        if loaded is None:
            return False
        return named in ANY_MODEL or named == loaded or (path is not None and self.model_id(path) == loaded)

    # Settings and memory

    async def change_settings(self, changes: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """Change engine settings; returns the names that apply now and those that need the model loaded again."""
        before = self.engine_settings
        after = make_settings(before.model_dump() | dict(changes))
        self.engine_settings = after
        changed = [name for name in changes if getattr(before, name) != getattr(after, name)]
        live = live_settings() if self.host.model_id is not None else frozenset(EngineSettings.model_fields)
        if self.host.model_id is not None and live.intersection(changed):
            await self.host.run(lambda loaded: loaded.apply(after))
        return [name for name in changed if name in live], [name for name in changed if name not in live]

    async def resize_cache(self, nbytes: int) -> int:
        """Resize the running cache; returns the size that was set."""
        return await self.host.run(lambda loaded: loaded.resize_cache(nbytes))

    def telemetry(self) -> dict[str, Any]:
        """Counters and gauges of the loaded model. Raises `ApiError` 503 without one."""
        with self.host.borrow() as loaded:
            return asdict(loaded.telemetry())

    async def _publish_telemetry(self) -> None:
        while True:
            await asyncio.sleep(_TELEMETRY_SECONDS)
            if self.events.followed and self.host.model_id is not None:
                with contextlib.suppress(ApiError):  # unloaded in this very moment
                    self.events.publish("telemetry", self.telemetry())

    # Traces and tuning

    async def trace(self, on: bool, name: str | None, max_bytes: int) -> dict[str, Any]:
        """Record routing to a file of this name in the engine's own folder, or stop; returns how far it is.

        In the middle of an answer too: it takes effect with the next token or batch of a prompt.
        """
        path = tracing.trace_path(self.settings.state_folder / "traces", name or f"{uuid.uuid4().hex}.trace")

        def change() -> dict[str, Any]:
            with self.host.borrow() as loaded:
                return tracing.as_json(tracing.start(loaded, path, max_bytes) if on else loaded.stop_trace())

        return await asyncio.to_thread(change)

    def trace_status(self) -> dict[str, Any]:
        """How far the latest recording of the loaded model is. Raises `ApiError` 503 without a model."""
        with self.host.borrow() as loaded:
            return tracing.as_json(loaded.trace_status())

    def loaded_path(self) -> Path:
        """The file of the loaded model. Raises `ApiError` if there is none."""
        with self.host.borrow() as loaded:
            return loaded.files.path

    def tune(self, budget_seconds: float) -> None:
        """Begin a tuning of the loaded model; its news are `tune` events, and the model comes back afterwards."""
        with self.host.borrow() as loaded:
            path, settings = loaded.files.path, loaded.settings
        self.spawn(self._tune(self.tuning.begin(), path, settings, budget_seconds))

    async def _tune(self, tune: Tune, path: Path, settings: EngineSettings, budget_seconds: float) -> None:
        def report(news: Mapping[str, Any]) -> None:
            self.events.publish("tune", news)

        try:
            await self.host.unload()
            self.state.set(Health("busy", self.model_id(path), phase="Tuning"))
            await asyncio.to_thread(
                tune, path, settings, budget_s=budget_seconds, report=report, cancelled=self.tuning.cancelled
            )
        except Exception as error:  # noqa: BLE001 - a tuner is code of somebody else
            _log.exception("the tuning failed")
            report({"phase": "failed", "fraction": 1.0, "message": str(error), "elapsed_s": 0.0, "error": str(error)})
        finally:
            self.tuning.end()
            self.state.set(Health("empty"))
        self.host.load(self.model_id(path), path, settings)


async def _outcome(attempt: Attempt) -> None:
    """Wait for the end of a load, whatever it is; the state tells it."""
    with contextlib.suppress(Exception):
        await asyncio.shield(asyncio.wrap_future(attempt.done))
