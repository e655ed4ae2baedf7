"""What a llama.cpp context holds of the conversation it has computed: cutting it back, saving and restoring it."""

from __future__ import annotations

import ctypes

import llama_cpp
import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.int32]

_SEQUENCE = 0


def needs_checkpoints(llama: llama_cpp.Llama) -> bool:
    """Whether the model's memory cannot be cut back: it is recurrent, or a sliding window drops cells."""
    model = llama.model
    recurrent = llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model)
    windowed = llama_cpp.llama_model_n_swa(model) > 0 and not llama.context_params.swa_full
    return bool(recurrent or windowed)


class ModelMemory:
    """Sequence 0 of a context, which is the only one used. Belongs to the thread that computes.

    Attributes:
        cuttable: False if the memory cannot be cut back to an earlier token (recurrent layers, a sliding window that
            has dropped cells): such a model needs checkpoints.
    """

    def __init__(self, llama: llama_cpp.Llama) -> None:
        self._llama = llama
        self._memory = llama_cpp.llama_get_memory(llama.ctx)
        self._window = llama_cpp.llama_model_n_swa(llama.model)
        self.cuttable = self._memory is not None and not needs_checkpoints(llama)

    @property
    def length(self) -> int:
        """Number of tokens held."""
        return int(self._llama.n_tokens)

    @property
    def tokens(self) -> Tokens:
        """The tokens held, shape (length,): a copy."""
        return np.array(self._llama.input_ids[: self._llama.n_tokens], dtype=np.int32)

    def clear(self) -> None:
        """Hold nothing."""
        if self._memory is not None:
            llama_cpp.llama_memory_clear(self._memory, True)
        self._llama.n_tokens = 0

    def cut(self, length: int) -> bool:
        """Forget all but the first `length` tokens; False, and nothing forgotten, if the memory cannot do that."""
        if length >= self.length:
            return length == self.length
        if length == 0:
            self.clear()
            return True
        if self._window_dropped(length) or not llama_cpp.llama_memory_seq_rm(self._memory, _SEQUENCE, length, -1):
            return False
        self._llama.n_tokens = length
        return True

    def forget_unfinished(self) -> None:
        """After a computation that ended early: forget what it left behind the tokens held."""
        if self._memory is None:
            return
        if not llama_cpp.llama_memory_seq_rm(self._memory, _SEQUENCE, self.length, -1):
            self.clear()

    def _window_dropped(self, length: int) -> bool:
        """Whether a sliding window no longer has the cells that token `length` would look at."""
        if self._window <= 0:
            return False
        oldest = llama_cpp.llama_memory_seq_pos_min(self._memory, _SEQUENCE)
        return bool(oldest > max(0, length - self._window))

    def state_bytes(self) -> int:
        """Size that `save` would have now."""
        return int(llama_cpp.llama_state_seq_get_size(self._llama.ctx, _SEQUENCE))

    def save(self) -> bytes:
        """The state of the tokens held; empty if llama.cpp cannot give it."""
        size = self.state_bytes()
        buffer = (ctypes.c_uint8 * size)()
        written = llama_cpp.llama_state_seq_get_data(self._llama.ctx, buffer, size, _SEQUENCE)
        return bytes(memoryview(buffer)[:written])

    def restore(self, tokens: Tokens, state: bytes) -> bool:
        """Hold `tokens` with a `state` that `save` gave; False, and nothing held, if llama.cpp does not take it."""
        self.clear()
        if not state or len(tokens) > len(self._llama.input_ids):
            return False
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if llama_cpp.llama_state_seq_set_data(self._llama.ctx, buffer, len(state), _SEQUENCE) == 0:
            self.clear()
            return False
        self._llama.input_ids[: len(tokens)] = tokens
        self._llama.n_tokens = len(tokens)
        return True
