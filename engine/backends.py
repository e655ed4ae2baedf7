"""ggml's backends where they are libraries of their own, chosen when the program runs: packaged builds have a CPU
library for each processor generation beside llama.cpp's, and GPU libraries in the folder `gpu` below.

A checkout's llama-cpp-python has its one CPU backend linked in; then there is nothing to load. llama.cpp would search
the program's and the working folder by itself; loading from the package's own folder first keeps it from that.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import llama_cpp
from llama_cpp import _ggml

from engine.errors import GannetError

LIBRARIES = Path(llama_cpp.__file__).resolve().parent / "lib"
GPU_LIBRARIES = LIBRARIES / "gpu"
_CPU = 0  # enum ggml_backend_dev_type


def load_cpu() -> None:
    """Load the CPU library that fits this processor best, unless there is a CPU backend already.

    Raises `GannetError` where none fits.
    """
    if not _has_cpu():
        _load_from(LIBRARIES)
    if not _has_cpu():
        raise GannetError(f"no CPU library in {LIBRARIES} runs on this processor; please install Gannet again")


def load_gpu() -> None:
    """Load the GPU backends that come with a packaged build; does nothing where there are none."""
    if GPU_LIBRARIES.is_dir():
        _load_from(GPU_LIBRARIES)


def _has_cpu() -> bool:
    by_type = _ggml.libggml.ggml_backend_dev_by_type
    by_type.argtypes, by_type.restype = [ctypes.c_int], ctypes.c_void_p
    return bool(by_type(_CPU))


def _load_from(folder: Path) -> None:
    load = _ggml.libggml.ggml_backend_load_all_from_path
    load.argtypes, load.restype = [ctypes.c_char_p], None
    load(str(folder).encode("utf-8") if os.name == "nt" else os.fsencode(folder))
