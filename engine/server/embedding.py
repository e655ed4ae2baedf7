"""Embeddings of texts, for models that were made to give them (with a pooling type in their file)."""

from __future__ import annotations

from collections.abc import Sequence

import llama_cpp
import numpy as np

from engine.loader import LoadedModel
from engine.server.errors import ApiError, bad_request


def embed(loaded: LoadedModel, texts: Sequence[str]) -> tuple[list[list[float]], int]:
    """Vectors of length 1, and the number of tokens read. Engine thread only: the context's conversation is lost.

    Raises `ApiError` 400 if the model gives no embeddings or a text does not fit.
    """
    llama = loaded.llama
    pooling = llama_cpp.llama_pooling_type(llama.ctx)
    if pooling in (llama_cpp.LLAMA_POOLING_TYPE_NONE, llama_cpp.LLAMA_POOLING_TYPE_UNSPECIFIED):
        raise bad_request("this model gives no embeddings; load an embedding model", "no_embeddings", "model")
    tokens = [llama.tokenize(text.encode("utf-8", "replace"), add_bos=True, special=False) for text in texts]
    longest = min(llama.n_batch, llama.n_ctx())
    if any(not 0 < len(one) <= longest for one in tokens):
        raise ApiError(400, f"each text must have 1 to {longest} tokens", "context_length_exceeded", param="input")
    llama_cpp.llama_set_embeddings(llama.ctx, True)
    try:
        return [_vector(llama, one) for one in tokens], sum(len(one) for one in tokens)
    finally:
        llama_cpp.llama_set_embeddings(llama.ctx, False)
        _forget(llama)


def _vector(llama: llama_cpp.Llama, tokens: Sequence[int]) -> list[float]:
    _forget(llama)
    llama.eval(tokens)
    pointer = llama_cpp.llama_get_embeddings_seq(llama.ctx, 0)
    vector = np.ctypeslib.as_array(pointer, shape=(llama.n_embd(),)).astype(np.float64)
    length = float(np.linalg.norm(vector))
    return [float(value) for value in (vector / length if length > 0 else vector)]


def _forget(llama: llama_cpp.Llama) -> None:
    memory = llama_cpp.llama_get_memory(llama.ctx)
    if memory is not None:
        llama_cpp.llama_memory_clear(memory, True)
    llama.n_tokens = 0
