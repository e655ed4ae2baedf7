"""libggml-base as llama-cpp-python ships it, through ctypes."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import llama_cpp

_NAMES = {"win32": "ggml-base.dll", "darwin": "libggml-base.dylib"}
GGML = ctypes.CDLL(str(Path(llama_cpp.__file__).parent / "lib" / _NAMES.get(sys.platform, "libggml-base.so")))


class TensorHead(ctypes.Structure):
    """The first fields of `struct ggml_tensor`."""

    _fields_ = [("type", ctypes.c_int), ("buffer", ctypes.c_void_p), ("ne", ctypes.c_int64 * 4)]
