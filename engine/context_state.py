"""What a model's context holds between answers: reuse of a common beginning, recovery after a failed computation."""

from __future__ import annotations

from collections.abc import Sequence

import llama_cpp
import numpy as np


def keep_prefix(llama: llama_cpp.Llama, prompt: Sequence[int]) -> int:
    """Shorten the context to what it shares with `prompt` and return that number of tokens.

    At least the prompt's last token is left to compute, since its logits choose the first token. Models whose state
    cannot be shortened (recurrent ones) start anew.
    """
    held = llama.input_ids[: llama.n_tokens]
    length = min(len(held), len(prompt) - 1)
    differs = np.flatnonzero(held[:length] != np.asarray(prompt[:length], dtype=held.dtype))
    keep = int(differs[0]) if len(differs) else length
    memory = llama_cpp.llama_get_memory(llama.ctx)
    if keep == 0 or not llama_cpp.llama_memory_seq_rm(memory, 0, keep, -1):
        clear(llama)
        return 0
    llama.n_tokens = keep
    return keep


def clear(llama: llama_cpp.Llama) -> None:
    """Forget everything the context holds."""
    llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(llama.ctx), True)
    llama.reset()  # type: ignore[no-untyped-call]


def recover(llama: llama_cpp.Llama) -> None:
    """Make the context usable after a computation failed or was ended half-way.

    llama.cpp has dropped the tokens of the failed batch; what was held before stays valid, but for models with a
    recurrent state, whose state has moved on.
    """
    if llama_cpp.llama_model_is_recurrent(llama.model) or llama_cpp.llama_model_is_hybrid(llama.model):
        clear(llama)
        return
    llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(llama.ctx), 0, llama.n_tokens, -1)
