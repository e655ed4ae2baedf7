"""The part of ggml's public C interface that the probes use, from the libraries llama-cpp-python brings.

Only functions of `ggml.h` and `ggml-backend.h` are called, and no structure but `ggml_init_params` is declared.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

I32, F32 = 26, 0
"""`ggml_type` numbers of ids and activations."""
CPU, GPU, INTEGRATED_GPU, ACCELERATOR = 0, 1, 2, 3
"""`ggml_backend_dev_type`."""

_P, _I, _I64, _Z, _S = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_size_t, ctypes.c_char_p


class _InitParams(ctypes.Structure):
    _fields_ = [("mem_size", _Z), ("mem_buffer", _P), ("no_alloc", ctypes.c_bool)]


_BASE: dict[str, tuple[Any, list[Any]]] = {
    "ggml_init": (_P, [_InitParams]),
    "ggml_free": (None, [_P]),
    "ggml_tensor_overhead": (_Z, []),
    "ggml_graph_overhead": (_Z, []),
    "ggml_new_tensor_2d": (_P, [_P, _I, _I64, _I64]),
    "ggml_new_tensor_3d": (_P, [_P, _I, _I64, _I64, _I64]),
    "ggml_mul_mat_id": (_P, [_P, _P, _P, _P]),
    "ggml_new_graph": (_P, [_P]),
    "ggml_build_forward_expand": (None, [_P, _P]),
    "ggml_nbytes": (_Z, [_P]),
    "ggml_backend_alloc_ctx_tensors": (_P, [_P, _P]),
    "ggml_backend_buffer_free": (None, [_P]),
    "ggml_backend_tensor_set": (None, [_P, _P, _Z, _Z]),
    "ggml_backend_tensor_get": (None, [_P, _P, _Z, _Z]),
    "ggml_backend_tensor_memset": (None, [_P, ctypes.c_uint8, _Z, _Z]),
    "ggml_backend_graph_compute": (_I, [_P, _P]),
    "ggml_backend_synchronize": (None, [_P]),
    "ggml_backend_free": (None, [_P]),
    "ggml_backend_dev_name": (_S, [_P]),
    "ggml_backend_dev_description": (_S, [_P]),
    "ggml_backend_dev_type": (_I, [_P]),
    "ggml_backend_dev_memory": (None, [_P, ctypes.POINTER(_Z), ctypes.POINTER(_Z)]),
    "ggml_backend_dev_init": (_P, [_P, _S]),
    "ggml_backend_dev_backend_reg": (_P, [_P]),
    "ggml_backend_reg_get_proc_address": (_P, [_P, _S]),
}
_REGISTRY: dict[str, tuple[Any, list[Any]]] = {
    "ggml_backend_dev_count": (_Z, []),
    "ggml_backend_dev_get": (_P, [_Z]),
    "ggml_backend_dev_by_type": (_P, [_I]),
}


class Ggml:
    """Functions by their C names: `lib.ggml_init(...)`. Raises OSError where the libraries are not to be found."""

    def __init__(self) -> None:
        from engine import backends  # loads the libraries, with whatever search paths the platform needs

        backends.load_cpu()
        for stem, table in (("ggml-base", _BASE), ("ggml", _REGISTRY)):
            library = ctypes.CDLL(str(_library(backends.LIBRARIES, stem)))
            for name, (result, arguments) in table.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def devices(self) -> Iterator[tuple[int, str, str, int, int, int]]:
        """(handle, name, description, type, free bytes, total bytes) of every device that is registered."""
        for i in range(self.ggml_backend_dev_count()):
            device = self.ggml_backend_dev_get(i)
            free, total = _Z(), _Z()
            self.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
            name = self.ggml_backend_dev_name(device).decode(errors="replace")
            description = self.ggml_backend_dev_description(device).decode(errors="replace")
            yield device, name, description, self.ggml_backend_dev_type(device), free.value, total.value

    def set_threads(self, device: int, backend: int, threads: int) -> None:
        """How many threads a CPU backend computes with; does nothing for devices that know no threads."""
        registry = self.ggml_backend_dev_backend_reg(device)
        address = self.ggml_backend_reg_get_proc_address(registry, b"ggml_backend_set_n_threads")
        if address:
            ctypes.CFUNCTYPE(None, _P, _I)(address)(backend, threads)

    def cpu_features(self) -> tuple[str, ...]:
        """Names of the vector extensions that ggml's CPU kernels were built for and use."""
        registry = self.ggml_backend_dev_backend_reg(self.ggml_backend_dev_by_type(CPU))
        address = self.ggml_backend_reg_get_proc_address(registry, b"ggml_backend_get_features")
        if not address:
            return ()
        found = ctypes.CFUNCTYPE(ctypes.POINTER(_Feature), _P)(address)(registry)
        names = []
        for i in range(64):
            if not found[i].name:
                break
            if found[i].value != b"0":
                names.append(found[i].name.decode())
        return tuple(names)

    @contextmanager
    def context(self, tensors: int) -> Iterator[int]:
        """A ggml context with room for the descriptions of `tensors` tensors and one graph."""
        size = tensors * self.ggml_tensor_overhead() + self.ggml_graph_overhead()
        context = self.ggml_init(_InitParams(size, None, True))
        try:
            yield context
        finally:
            self.ggml_free(context)


class _Feature(ctypes.Structure):
    _fields_ = [("name", _S), ("value", _S)]


def _library(folder: Path, stem: str) -> Path:
    names: Sequence[str] = {"win32": (f"{stem}.dll", f"lib{stem}.dll"), "darwin": (f"lib{stem}.dylib",)}.get(
        sys.platform, (f"lib{stem}.so",)
    )
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise OSError(f"{names[0]} is missing from {folder}")


@cache
def ggml() -> Ggml:
    """The one set of bindings of this process."""
    return Ggml()
