"""Loads a model: header facts and settings in, a `LoadedModel` that answers out."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import threading
import time
import weakref
from collections.abc import Callable, Set
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import llama_cpp

from engine import backends, llama_log, stock
from engine.cache_monitor import CacheMonitor
from engine.census import CensusError, CensusFile
from engine.elastic import CacheBounds
from engine.errors import GannetError, LoadCancelledError, ModelFileError
from engine.gguf import ModelFiles
from engine.lookahead.trial import LookaheadTrial
from engine.memory import MemoryAvailable, MemoryPlan, kv_bytes, memory_available, plan_memory
from engine.places import state_folder
from engine.processors import compute_threads
from engine.settings import EngineSettings, live_settings
from engine.sizes import format_bytes
from engine.streaming import Streamer
from engine.telemetry import ExpertMap, Telemetry, expert_map, plain_snapshot, snapshot
from engine.trace.live import MOST_BYTES, LiveTrace, LiveTraceError, TraceStatus

_NO_DEVICES = (ctypes.c_void_p * 1)(None)
Progress = Callable[[float, str], None]
Cancelled = Callable[[], bool]
# Less is never left free while the cache is elastic: another program's memory would run out before the next look.
_LEAST_RESERVE = 64 << 20
_CACHE_SETTINGS = frozenset({"cache_bytes", "headroom_bytes", "elastic"})


class LoadedModel:
    """A model ready to answer; a context manager that frees it.

    Attributes:
        llama: the unmodified high-level class: tokenizing, templates, sampling, grammars, state.
        files: the header facts it was loaded from.
        settings: as asked for; `context_length` is the one in use.
        notes: one line for each fallback taken.
        load_seconds: time the load took.
        streamer: the streaming side; None on the plain path (no experts, or `plain`).
        plan: how memory was divided when it was loaded; None for a model made otherwise.
        trial: whether lookahead pays here, if `settings.lookahead_trial`.
        monitor: resizes the cache as memory comes and goes, if `settings.elastic`; None on the plain path.
    """

    def __init__(
        self,
        llama: llama_cpp.Llama,
        files: ModelFiles,
        settings: EngineSettings,
        notes: tuple[str, ...],
        load_seconds: float,
        streamer: Streamer | None = None,
        census: CensusFile | None = None,
        plan: MemoryPlan | None = None,
        measure: Callable[[], MemoryAvailable] = memory_available,
    ) -> None:
        self.llama = llama
        self.files = files
        self.settings = settings
        self.notes = notes
        self.load_seconds = load_seconds
        self.streamer = streamer
        self._census = census
        self._trace: LiveTrace | None = None
        self._trace_lock = threading.Lock()
        self.plan = plan
        self.monitor = None if streamer is None or plan is None else self._make_monitor(streamer, plan, measure)
        self.trial = LookaheadTrial()
        self._answers = Telemetry()  # what only an answer knows: tokens and the time they took

    def __enter__(self) -> LoadedModel:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _make_monitor(
        self, streamer: Streamer, plan: MemoryPlan, measure: Callable[[], MemoryAvailable]
    ) -> CacheMonitor:
        bounds = _cache_bounds(plan, self.settings, self.settings.cache_bytes)
        monitor = CacheMonitor(streamer.native, bounds, measure, plan.compute_bytes)
        weakref.finalize(self, monitor.stop)  # a model that nobody closes leaves no thread behind either
        if self.settings.elastic:
            monitor.start()
        return monitor

    @property
    def streaming(self) -> bool:
        """False on the plain path."""
        return self.streamer is not None

    def telemetry(self) -> Telemetry:
        """Counters since the load, and gauges of this moment."""
        kv = kv_bytes(self.files, self.settings.context_length or 0)
        if self.streamer is None:
            return plain_snapshot(replace(self._answers, resident_bytes=self.files.total_bytes, kv_bytes=kv))
        cache = None if self.monitor is None else self.monitor.state
        answers = replace(self._answers, kv_bytes=kv, lookahead_gain=self.trial.gain or 0.0)
        return snapshot(self.streamer, answers, cache)

    def count_tokens(
        self,
        *,
        prompt: int = 0,
        decoded: int = 0,
        prompt_seconds: float = 0.0,
        decode_seconds: float = 0.0,
    ) -> None:
        """Add computed tokens and the time they took to the counters; `engine.answer` calls it."""
        was = self._answers
        self._answers = replace(
            was,
            tokens_prompt=was.tokens_prompt + prompt,
            tokens_decoded=was.tokens_decoded + decoded,
            prompt_seconds=was.prompt_seconds + prompt_seconds,
            decode_seconds=was.decode_seconds + decode_seconds,
        )

    def expert_map(self) -> ExpertMap:
        """Uses and residency by layer and expert; empty on the plain path."""
        return ExpertMap() if self.streamer is None else expert_map(self.streamer)

    def resize_cache(self, nbytes: int) -> int:
        """Set the expert cache's size in bytes, live; returns what was set: 0 on the plain path, which has none.

        An elastic cache takes it as the most it may be, and less while memory is short.
        """
        if self.streamer is None:
            return 0
        if self.plan is None or self.monitor is None or not self.monitor.running:
            return int(self.streamer.native.resize(nbytes))
        return self.monitor.ask(_cache_bounds(self.plan, self.settings, nbytes))

    def start_trace(self, path: Path, max_bytes: int = MOST_BYTES) -> TraceStatus:
        """Record which experts each token uses to a new file, from the next token or prompt batch on. Any thread.

        Raises `LiveTraceError`: nothing is streamed, a recording goes on already, or the file cannot be made.
        """
        if self.streamer is None:
            raise LiveTraceError("this model's experts are not streamed, so there is no routing to trace")
        with self._trace_lock:
            if self._trace is not None and self._recording():
                raise LiveTraceError(f"{self._trace.status.path.name} is being recorded; stop that first")
            header = self.streamer.trace_header(self.settings)
            self._trace = LiveTrace(self.streamer.native, header, path, max_bytes)
            self._rest_lookahead(False)  # what it guesses is recorded too
            return self._trace.status

    def stop_trace(self) -> TraceStatus | None:
        """Stop recording and complete the file; None if nothing was ever recorded."""
        with self._trace_lock:
            return None if self._trace is None else self._trace.stop()

    def trace_status(self) -> TraceStatus | None:
        """How far the latest recording is; None if there was none."""
        return None if self._trace is None else self._trace.status

    def apply(self, settings: EngineSettings) -> frozenset[str]:
        """Make `settings` take effect as far as they are live; returns the names of those that need a new load.

        Between answers only. An automatic cache takes what is free, or, if it is not elastic, goes back to the size
        it was loaded with.
        """
        changed = {
            name for name in EngineSettings.model_fields if getattr(settings, name) != getattr(self.settings, name)
        }
        live = changed & live_settings()
        if self.streamer is not None:
            self.streamer.apply(settings)
            self.trial = LookaheadTrial()
        self.settings = self.settings.model_copy(update={name: getattr(settings, name) for name in live})
        self.settle_threads()
        self._apply_cache(live)
        return frozenset(changed - live)

    def settle_threads(self) -> None:
        """Compute on as many threads as the settings, and whether the machine is on battery, want; between answers."""
        threads = _threads(self.settings)
        if threads != llama_cpp.llama_n_threads(self.llama.ctx):
            llama_cpp.llama_set_n_threads(self.llama.ctx, threads, threads)

    def begin_decoding(self) -> None:
        """A new answer's tokens follow."""
        self._rest_lookahead(self.trial.begin_answer())

    def decoded(self, seconds: float) -> None:
        """The token that took `seconds` is done: may let lookahead rest for the next ones, to see whether it pays."""
        wanted = self.settings.lookahead and self.settings.lookahead_trial
        if self.streamer is not None and wanted and not self._recording():
            self._rest_lookahead(self.trial.observe(seconds))

    def _rest_lookahead(self, resting: bool) -> None:
        if self.streamer is not None:
            self.streamer.rest_lookahead(resting and not self._recording())

    def _recording(self) -> bool:
        return self._trace is not None and self._trace.status.state == "recording"

    def _apply_cache(self, changed: Set[str]) -> None:
        wanted, plan, monitor = self.settings.cache_bytes, self.plan, self.monitor
        if self.streamer is None or plan is None or monitor is None or not changed & _CACHE_SETTINGS:
            return
        if self.settings.elastic:
            monitor.ask(_cache_bounds(plan, self.settings, wanted))
            monitor.start()
        elif changed & {"cache_bytes", "elastic"}:
            monitor.stop()
            self.streamer.native.resize(plan.cache_bytes if wanted is None else wanted)

    def check(self) -> None:
        """Raise `ReadFailedError` if reading an expert failed since the last call."""
        if self.streamer is not None:
            self.streamer.check()

    def close(self) -> None:
        """Complete a trace, remember which experts were used, and free the model; safe to call twice."""
        self.stop_trace()
        if self.monitor is not None:
            self.monitor.stop()
        if self.streamer is not None and self._census is not None:
            with contextlib.suppress(CensusError):  # only speed is lost
                self._census.save(self.streamer.native.uses())
        self.llama.close()


def load(
    files: ModelFiles,
    settings: EngineSettings,
    *,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    measure: Callable[[], MemoryAvailable] = memory_available,
) -> LoadedModel:
    """Load `files`.

    `progress` gets the share done (0 to 1) and what is being done; `cancelled` is asked between tensors. `measure`
    tells what memory there is, now and, for an elastic cache, as long as the model is loaded.
    Raises `LoadCancelledError`, `ModelFileError` (llama.cpp refused the file) or `GannetError` (no memory).
    """
    started = time.perf_counter()
    backends.load_cpu()
    settings = settings.model_copy(update={"context_length": _context_length(files, settings)})
    watch = _Watch(progress, cancelled)
    plan = plan_memory(files, settings, measure())
    if not plan.streaming:
        llama = _load_llama(files, settings, watch, None)
        return LoadedModel(llama, files, settings, plan.notes, time.perf_counter() - started)
    streamer = Streamer(files, settings, plan.cache_bytes)
    llama = _load_llama(files, settings, watch, streamer)
    try:
        streamer.wait_resident(watch.resident, watch.is_cancelled)
    except GannetError:
        llama.close()
        raise
    with contextlib.suppress(OSError):  # no folder, no correction
        streamer.correct_lookahead(state_folder(), settings.lookahead_correction)
    census = _open_census(streamer) if settings.census else None
    notes = plan.notes + streamer.notes
    seconds = time.perf_counter() - started
    return LoadedModel(llama, files, settings, notes, seconds, streamer, census, plan, measure)


def _cache_bounds(plan: MemoryPlan, settings: EngineSettings, wanted: int | None) -> CacheBounds:
    """What an elastic cache keeps to; `wanted` is the most a user wants it to be, None: all experts."""
    most = plan.expert_bytes if wanted is None else min(wanted, plan.expert_bytes)
    return CacheBounds(min(plan.layer_bytes, most), most, max(settings.headroom_bytes, _LEAST_RESERVE))


def _open_census(streamer: Streamer) -> CensusFile | None:
    """The model's census, with what it knows handed to the streamer; None where there is no place for one."""
    try:
        census = streamer.open_census(state_folder() / "census")
        streamer.recall(census.load())
    except OSError:
        return None
    return census


def _load_llama(
    files: ModelFiles, settings: EngineSettings, watch: _Watch, streamer: Streamer | None
) -> llama_cpp.Llama:
    def attach(params: llama_cpp.llama_model_params) -> None:
        watch.attach(params)
        if streamer is not None:
            streamer.attach(params)

    with llama_log.collected() as log:
        try:
            with stock.model_params(attach), streamer.loading() if streamer else contextlib.nullcontext():
                return _make_llama(files, settings)
        except ValueError as error:
            raise _load_error(files, settings, watch, log) from error


def _context_length(files: ModelFiles, settings: EngineSettings) -> int:
    return min(settings.context_length, files.context_length or settings.context_length)


def _threads(settings: EngineSettings) -> int:
    return settings.threads or compute_threads(settings.save_battery)


def _make_llama(files: ModelFiles, settings: EngineSettings) -> llama_cpp.Llama:
    threads = _threads(settings)
    return llama_cpp.Llama(
        str(files.paths[0]),
        n_ctx=settings.context_length,
        n_batch=settings.ubatch,
        n_ubatch=settings.ubatch,
        n_threads=threads,
        n_threads_batch=threads,
        flash_attn=settings.flash_attention,
        verbose=False,
    )


class _Watch:
    """Progress and cancellation of one load, called by llama.cpp."""

    def __init__(self, progress: Progress | None, cancelled: Cancelled | None) -> None:
        self._progress = progress
        self._cancelled = cancelled
        self._callback = llama_cpp.llama_progress_callback(self._on_progress)
        self.was_cancelled = False
        self.loaded = False

    def attach(self, params: llama_cpp.llama_model_params) -> None:
        """Set what `Llama` has no argument for."""
        # ggml's AMX buffers crash on K-quants on some machines, and their kernels round differently.
        params.use_extra_bufts = False
        # A graphics card's backend, loaded to be measured, must not take part: the answers are those of the CPU.
        params.devices = ctypes.cast(_NO_DEVICES, ctypes.c_void_p)  # type: ignore[assignment]
        params.progress_callback = self._callback

    def _on_progress(self, share: float, _user_data: object) -> bool:
        self.loaded = share >= 1.0
        if self._cancelled is not None and self._cancelled():
            self.was_cancelled = True
            return False
        if self._progress is not None:
            self._progress(share, "Loading the model")
        return True

    def resident(self, share: float) -> None:
        """The share of the always-needed weights that is in memory."""
        if self._progress is not None:
            self._progress(share, "Reading the weights every token needs")

    def is_cancelled(self) -> bool:
        """Whether the caller gave up."""
        return self._cancelled is not None and self._cancelled()


def _load_error(
    files: ModelFiles, settings: EngineSettings, watch: _Watch, log: list[logging.LogRecord]
) -> GannetError:
    name = files.paths[0].name
    if watch.was_cancelled:
        return LoadCancelledError(f"loading {name} was cancelled")
    reason = llama_log.reason(log)
    if watch.loaded:
        context = f"a context of {settings.context_length} tokens"
        return GannetError(
            f"{name}: {context} could not be set up ({reason or 'not enough memory'}); try a smaller --context"
        )
    size = format_bytes(files.total_bytes)
    return ModelFileError(f"{name}: llama.cpp cannot load it ({reason or f'not enough memory for {size}'})")
