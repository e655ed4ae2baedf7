"""A flag that ends a computation inside llama.cpp from another thread, without Python running per graph node."""

from __future__ import annotations

import ctypes
import sys

import llama_cpp


class StopFlag:
    """Set from any thread; llama.cpp looks at it after every graph node and returns early.

    llama.cpp asks a C function `bool (*)(void *)` after each of a token's thousands of nodes. A Python callback
    there would cost milliseconds per token, so the function is the C library's `strlen` on a string of zero or one
    characters: 0 while unset, 1 once set.
    """

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(2)

    def set(self) -> None:
        """Ask for the end; safe to call from a signal handler."""
        self._text[0] = b"\x01"

    def is_set(self) -> bool:
        """True after `set`."""
        return self._text.raw[0] != 0

    def attach(self, context: llama_cpp.llama_context_p) -> None:
        """Let computations of `context` be ended by this flag, which must live until `detach`."""
        llama_cpp.llama_set_abort_callback(context, _READ_FLAG, ctypes.addressof(self._text))

    @staticmethod
    def detach(context: llama_cpp.llama_context_p) -> None:
        """No flag ends computations of `context` any more."""
        llama_cpp.llama_set_abort_callback(context, _NO_CALLBACK, None)


def _strlen() -> ctypes._CFunctionType:
    library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
    return ctypes.cast(library.strlen, llama_cpp.ggml_abort_callback)


_READ_FLAG = _strlen()
_NO_CALLBACK = llama_cpp.ggml_abort_callback(0)
