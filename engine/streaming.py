"""A model whose experts stream: the native core's tables built from the header, and its place in a load.

`Streamer` owns the native model, which must outlive the `Llama` made with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llama_cpp

from engine.census import Census, CensusFile, fingerprint
from engine.errors import LoadCancelledError, ModelFileError, ReadFailedError
from engine.gguf import ExpertTensor, ModelFiles
from engine.gguf.experts import is_expert
from engine.lookahead import correction
from engine.lookahead.correction import CorrectionError
from engine.native import _native
from engine.settings import EngineSettings
from engine.trace.journal import JournalHeader

# What lies in the expert buffer type: the routed experts' weights, and nothing else (biases stay resident).
EXPERT_PATTERN = rb"\.ffn_(gate|up|down|gate_up)_(ch)?exps\.weight"
_PART_ORDER = ("gate_up", "gate", "up", "down")  # as they are computed: the last is needed last
_POLL_SECONDS = 0.02


class _Override(ctypes.Structure):
    """llama.cpp's `llama_model_tensor_buft_override`: tensors whose name the pattern finds go to the buffer type."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p))


class Streamer:
    """The streaming side of one loaded model.

    Raises `ModelFileError` when a file cannot be opened. `cache_bytes` is the expert cache's size in bytes.
    """

    def __init__(self, files: ModelFiles, settings: EngineSettings, cache_bytes: int) -> None:
        _native.register_backend()
        self.files = files
        self._lookahead = settings.lookahead
        self._corrected = False
        self._correction_note: str | None = None
        self._layers = _layers(files)
        self._width = max(parts[0].n_expert for _, parts in self._layers)  # experts of the widest layer
        native = _native.ModelSettings()
        native.cache_bytes = cache_bytes
        native.io_threads = settings.io_threads
        native.lookahead = settings.lookahead
        native.width = settings.lookahead_width or 0
        native.prefetch_depth = settings.prefetch_depth
        native.prefetch_bar = _bar(settings)

        try:
            self.native = _native.StreamedModel(
                [str(path) for path in files.paths],
                [_layer_spec(block, parts) for block, parts in self._layers],
                [
                    _native.TensorPlace(t.name, t.file, t.offset, t.nbytes)
                    for t in files.tensors
                    if files.is_loaded(t) and not is_expert(t.name)
                ],
                native,
            )
        except RuntimeError as error:
            raise ModelFileError(str(error)) from error
        self._overrides = (_Override * 3)(
            _Override(EXPERT_PATTERN, self.native.expert_type),
            _Override(b".*", self.native.resident_type),
            _Override(None, None),
        )

    def attach(self, params: llama_cpp.llama_model_params) -> None:
        """Point a load's parameters at our buffer types. `self` must stay alive as long as the model."""
        fields: Any = params  # the stub calls this field unused
        fields.tensor_buft_overrides = ctypes.addressof(self._overrides)
        params.load_mode = llama_cpp.LLAMA_LOAD_MODE_MMAP

    @contextlib.contextmanager
    def loading(self) -> Iterator[None]:
        """While open, the one context that this process makes belongs to this model."""
        with _native.Setup(self.native), _native.NoMapReadAhead():
            yield

    def wait_resident(self, progress: Callable[[float], None], cancelled: Callable[[], bool]) -> None:
        """Wait until the always-needed weights are in memory. Raises `LoadCancelledError`, `ModelFileError`."""
        while True:
            done, queued = self.native.resident_progress()
            if cancelled():
                self.native.cancel_resident()
                self.native.finish_resident()
                raise LoadCancelledError(f"loading {self.files.path.name} was cancelled")
            progress(done / max(queued, 1))
            if done >= queued:
                break
            time.sleep(_POLL_SECONDS)
        error = self.native.finish_resident()
        if error:
            raise ModelFileError(error)

    def apply(self, settings: EngineSettings) -> None:
        """Make the live settings of reading take effect; between answers only."""
        self.native.set_io_threads(settings.io_threads)
        self._lookahead = settings.lookahead
        self.native.set_lookahead(self._lookahead)
        self.native.set_width(settings.lookahead_width or 0)
        self.native.set_prefetch_depth(settings.prefetch_depth)
        self.native.set_prefetch_bar(_bar(settings))
        self.native.enable_corrections(self._corrected and settings.lookahead_correction)

    def rest_lookahead(self, resting: bool) -> None:
        """Leave lookahead off from the next token on, or take it up again as the settings say; between tokens only."""
        self.native.set_lookahead(0 if resting else self._lookahead)

    def check(self) -> None:
        """Raise `ReadFailedError` if reading an expert failed since the last call."""
        error = self.native.take_error()
        if error:
            raise ReadFailedError(error)

    def expert_rows(self) -> list[tuple[int, int, int]]:
        """(block, first key, experts) of every streamed layer: how flat per-expert tables are cut."""
        return [(block, i * self._width, parts[0].n_expert) for i, (block, parts) in enumerate(self._layers)]

    def trace_header(self, settings: EngineSettings) -> JournalHeader:
        """What a recording of this model's routing begins with."""
        blocks = tuple(block for block, _ in self._layers)
        used = self.files.n_expert_used
        return JournalHeader(self.files.path.name, blocks, self._width, used, settings.lookahead)

    def open_census(self, folder: Path) -> CensusFile:
        """The file that remembers this model's counts."""
        return CensusFile(folder, fingerprint(self.files), len(self._layers), self._width)

    def correct_lookahead(self, folder: Path, wanted: bool) -> None:
        """Hand over what a fit has learnt about this model, if there is such a file and it is sound; a note if not."""
        model = fingerprint(self.files)
        path = correction.place_of(folder, model)
        try:
            found = correction.load(path, model, len(self._layers), self._width, self.files.n_embd)
            if found is not None:
                for (layer, distance), part in found.parts.items():
                    self.native.correct(layer, distance, part.up, part.down, part.bias)
                self._corrected = True
        except (CorrectionError, ValueError) as error:
            self._correction_note = str(error)
        self.native.enable_corrections(self._corrected and wanted)

    def recall(self, census: Census) -> None:
        """Trust the counts of former sessions and read the most used experts while nothing else is to be read."""
        if any(census.uses):
            self.native.trust(list(census.uses), self.files.n_expert_used)
            self.native.warm(census.by_popularity())

    @property
    def notes(self) -> tuple[str, ...]:
        """One line for each fallback taken."""
        notes = () if self._correction_note is None else (self._correction_note,)
        if self.native.direct:
            return notes
        return (
            "the model's drive has no direct reads: experts are read through the page cache, which takes memory",
            *notes,
        )


def _bar(settings: EngineSettings) -> float:
    """The bar as the native core takes it: below 0 it is automatic."""
    return -1.0 if settings.prefetch_bar is None else settings.prefetch_bar


def _layers(files: ModelFiles) -> list[tuple[int, list[ExpertTensor]]]:
    """Streamed layers in the order they run; a block with two sets of experts counts as two."""
    experts = sorted(files.experts(), key=lambda e: (e.layer, e.chunked, _PART_ORDER.index(e.projection)))
    grouped = itertools.groupby(experts, key=lambda e: (e.layer, e.chunked))
    return [(block, list(parts)) for (block, _), parts in grouped]


def _layer_spec(block: int, parts: list[ExpertTensor]) -> _native.LayerSpec:
    specs = [_native.PartSpec(p.tensor.name, p.tensor.file, p.tensor.offset, p.bytes_per_expert) for p in parts]
    return _native.LayerSpec(block, parts[0].n_expert, specs)
