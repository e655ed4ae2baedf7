"""Single tokens as bytes and as ends of an answer; what llama_cpp.Llama's own methods do not cover."""

from __future__ import annotations

import ctypes

import llama_cpp


class Vocabulary:
    """The vocabulary of a loaded model."""

    def __init__(self, llama: llama_cpp.Llama) -> None:
        self._vocab = llama_cpp.llama_model_get_vocab(llama.model)
        self._buffer = ctypes.create_string_buffer(64)

    def piece(self, token: int, special: bool = False) -> bytes:
        """The bytes of `token`, of any length; empty for special tokens unless `special`."""
        size = self._render(token, special)
        if size < 0:  # the buffer was too small by being smaller than -size
            self._buffer = ctypes.create_string_buffer(-size)
            size = self._render(token, special)
        return self._buffer.raw[:size]

    def _render(self, token: int, special: bool) -> int:
        size: int = llama_cpp.llama_token_to_piece(self._vocab, token, self._buffer, len(self._buffer), 0, special)
        return size

    def ends_answer(self, token: int) -> bool:
        """True for end-of-text, end-of-turn and the like."""
        return bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))
