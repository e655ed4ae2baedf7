"""Names and shapes of an architecture's tensors, asked of llama.cpp: it makes a model from metadata alone."""

from __future__ import annotations

import ctypes
from pathlib import Path

import llama_cpp

from engine import llama_log
from tests.models.ggml_library import GGML, TensorHead


class _InitParams(ctypes.Structure):
    _fields_ = [("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p)]


GGML.gguf_init_from_file.restype = ctypes.c_void_p
GGML.gguf_init_from_file.argtypes = [ctypes.c_char_p, _InitParams]
GGML.gguf_free.argtypes = [ctypes.c_void_p]
GGML.ggml_get_name.restype = ctypes.c_char_p
GGML.ggml_get_name.argtypes = [ctypes.c_void_p]


def tensor_shapes(metadata_file: Path) -> dict[str, tuple[int, ...]]:
    """Shapes (ne[], trailing ones dropped) by name of every tensor that llama.cpp would look for, optional ones too.

    `metadata_file` is a GGUF file without tensors.
    """
    found: dict[str, tuple[int, ...]] = {}

    def note(tensor: int, _user_data: object) -> None:
        shape = list(TensorHead.from_address(tensor).ne)
        while len(shape) > 1 and shape[-1] == 1:
            shape.pop()
        found[GGML.ggml_get_name(tensor).decode()] = tuple(shape)

    callback = llama_cpp.llama_model_set_tensor_data_t(note)
    metadata = GGML.gguf_init_from_file(str(metadata_file).encode(), _InitParams(True, None))
    assert metadata, f"{metadata_file} is not readable"
    llama_cpp.llama_backend_init()
    with llama_log.collected() as log:
        model = llama_cpp.llama_model_init_from_user(
            ctypes.cast(metadata, ctypes.c_void_p), callback, None, llama_cpp.llama_model_default_params()
        )
    GGML.gguf_free(metadata)
    assert model, f"llama.cpp makes no such model: {llama_log.reason(log)}"
    llama_cpp.llama_model_free(model)
    return found
