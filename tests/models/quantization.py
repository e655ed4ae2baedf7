"""Which tensors of a model get which type, as files have them, and ggml's own quantization of their rows."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as Type

from tests.models.ggml_library import GGML

GGML.ggml_quantize_chunk.restype = ctypes.c_size_t
GGML.ggml_quantize_chunk.argtypes = [
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
]


@dataclass(frozen=True)
class Quantization:
    """Types by role.

    Attributes:
        experts: type of the routed experts. dense: type of the other matrices.
        down: type of the down experts in layers whose number `down_layers` matches, where that differs.
    """

    experts: Type
    dense: Type
    down: Type | None = None
    down_layers: str = r"[13]"

    def type_of(self, name: str, shape: tuple[int, ...]) -> Type:
        """Type of a tensor; vectors, routers and whatever does not fill whole blocks stay as they are in files."""
        if len(shape) < 2 or not name.endswith(".weight") or re.search(r"ffn_gate_inp|norm|ssm_conv1d", name):
            return Type.F32
        wanted = self.experts if "_exps." in name else self.dense
        if self.down is not None and re.search(rf"blk\.{self.down_layers}\.ffn_down_exps", name):
            wanted = self.down
        return wanted if shape[0] % GGML_QUANT_SIZES[wanted][0] == 0 else Type.F16


QUANTIZATIONS: dict[str, Quantization] = {
    "F16": Quantization(Type.F16, Type.F16),
    "Q8_0": Quantization(Type.Q8_0, Type.Q8_0),
    "Q4_0": Quantization(Type.Q4_0, Type.Q8_0),
    "Q4_K": Quantization(Type.Q4_K, Type.Q4_K),
    "Q4_K_M": Quantization(Type.Q4_K, Type.Q4_K, down=Type.Q6_K),
    "Q6_K": Quantization(Type.Q6_K, Type.Q6_K),
    "IQ4_XS": Quantization(Type.IQ4_XS, Type.Q5_K),
    "MXFP4": Quantization(Type.MXFP4, Type.Q8_0),
}


def quantized(values: np.ndarray, kind: Type) -> np.ndarray:
    """`values` (float32, rows of the last axis) as bytes of type `kind`, the last axis in bytes."""
    if kind == Type.F32:
        return values
    if kind == Type.F16:
        return values.astype(np.float16)
    block, nbytes = GGML_QUANT_SIZES[kind]
    *rows, length = values.shape
    out = np.empty((*rows, length // block * nbytes), np.uint8)
    source = np.ascontiguousarray(values, np.float32)
    n_rows = int(np.prod(rows))
    written = GGML.ggml_quantize_chunk(kind, source.ctypes.data, out.ctypes.data, 0, n_rows, length, None)
    assert written == out.nbytes
    return out
