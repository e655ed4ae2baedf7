"""Looking at stock llama.cpp's graph while it runs, through the public evaluation callback.

`Tensor` mirrors the public head of ``struct ggml_tensor`` (ggml.h); only reading is offered.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from llama_cpp._ggml import libggml_base_path

_BASE = next(path for pattern in ("libggml-base.*", "ggml-base.*") for path in sorted(libggml_base_path.glob(pattern)))
_ggml = ctypes.CDLL(str(_BASE))
_ggml.ggml_op_desc.argtypes = [ctypes.c_void_p]
_ggml.ggml_op_desc.restype = ctypes.c_char_p

_F32, _F16, _I32, _BF16 = 0, 1, 26, 30


class _TensorHead(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("ne", ctypes.c_int64 * 4),
        ("nb", ctypes.c_size_t * 4),
        ("op", ctypes.c_int),
        ("op_params", ctypes.c_int32 * 16),
        ("flags", ctypes.c_int32),
        ("src", ctypes.c_void_p * 10),
        ("view_src", ctypes.c_void_p),
        ("view_offs", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("name", ctypes.c_char * 64),
    ]


class Tensor:
    """A node or leaf of the graph, valid while the callback that showed it runs."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer
        self._head = _TensorHead.from_address(pointer)

    @property
    def name(self) -> str:
        """The name llama.cpp gave it, such as ``ffn_moe_topk-3``."""
        return bytes(self._head.name).decode(errors="replace")

    @property
    def op(self) -> str:
        """Name of the operation, ``SIGMOID`` rather than ``UNARY`` for element-wise ones; ``NONE`` for a leaf."""
        return str(_ggml.ggml_op_desc(self.pointer).decode())

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes in ggml's order, fastest first, four of them."""
        return tuple(self._head.ne)

    @property
    def view_of(self) -> Tensor | None:
        """The tensor whose data this one shows, if it is a view."""
        return Tensor(self._head.view_src) if self._head.view_src else None

    def source(self, index: int) -> Tensor | None:
        """Operand number `index`, if there is one."""
        pointer = self._head.src[index]
        return Tensor(pointer) if pointer else None

    def rows(self) -> npt.NDArray[Any] | None:
        """A copy as [rows, columns], float32 or int32; None for other types or data that is not in host memory."""
        kinds: dict[int, tuple[type[Any], int]] = {
            _F32: (np.float32, 4),
            _F16: (np.float16, 2),
            _BF16: (np.uint16, 2),
            _I32: (np.int32, 4),
        }
        head = self._head
        if head.type not in kinds or not head.data or head.nb[0] != kinds[head.type][1]:
            return None
        kind, size = kinds[head.type]
        columns, count, stride = head.ne[0], math.prod(head.ne[1:4]), head.nb[1]
        span = (count - 1) * stride + columns * size
        raw = np.ctypeslib.as_array(ctypes.cast(head.data, ctypes.POINTER(ctypes.c_uint8)), (span,))
        view = np.ndarray((count, columns), kind, raw.data, strides=(stride, size))
        if head.type == _BF16:
            return np.asarray((view.astype(np.uint32) << 16).view(np.float32))
        return np.asarray(view.astype(np.float32) if head.type == _F16 else view.copy())
