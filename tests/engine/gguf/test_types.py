"""The table of tensor types against the installed llama.cpp: a wrong row reads experts from the wrong place."""

from __future__ import annotations

import ctypes

import pytest

from engine.gguf.types import GGML_TYPES
from tests.models.ggml_library import GGML

GGML.ggml_type_size.restype = ctypes.c_size_t
GGML.ggml_type_size.argtypes = [ctypes.c_int]
GGML.ggml_blck_size.restype = ctypes.c_int64
GGML.ggml_blck_size.argtypes = [ctypes.c_int]
GGML.ggml_type_name.restype = ctypes.c_char_p
GGML.ggml_type_name.argtypes = [ctypes.c_int]


def test_every_type_of_the_library_is_known_and_none_else() -> None:
    installed = {n for n in range(43) if GGML.ggml_blck_size(n)}
    assert installed == set(GGML_TYPES)


@pytest.mark.parametrize("type_id", sorted(GGML_TYPES))
def test_sizes_are_those_of_the_library(type_id: int) -> None:
    row = GGML_TYPES[type_id]
    assert row.block_size == GGML.ggml_blck_size(type_id)
    assert row.block_bytes == GGML.ggml_type_size(type_id)
    assert row.name.lower() == GGML.ggml_type_name(type_id).decode().lower()


def test_bits_per_weight_counts_the_scales() -> None:
    assert GGML_TYPES[12].bits_per_weight == 4.5
