"""The one place that steps into llama-cpp-python while it loads: parameters that `Llama` has no argument for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import llama_cpp
import llama_cpp.llama
import llama_cpp.llama_cpp as bindings
from llama_cpp import _internals

from engine.memory.plan import MAX_OUTPUTS

ParamsHook = Callable[[llama_cpp.llama_model_params], None]

_lock = threading.Lock()


class _KeepOutput:
    """Stands in for llama-cpp-python's redirection of stdout and stderr to nowhere.

    That redirection acts on the whole process, so progress lines, or another thread's output, would vanish during a
    load. llama.cpp's log does not need it: it goes to `engine.llama_log`.
    """

    def __init__(self, disable: bool = True) -> None:
        del disable

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


@contextlib.contextmanager
def model_params(change: ParamsHook) -> Iterator[None]:
    """While open, `change` may edit the parameters of every model that this thread loads through `Llama`, and a
    context keeps the logits of few positions.

    One load at a time: a second thread waits. Loads of other threads that do not come through here are not touched.
    """
    with _lock:
        stock_load = bindings.llama_model_load_from_file
        owner = threading.get_ident()

        def load(path: bytes, params: llama_cpp.llama_model_params) -> Any:
            if threading.get_ident() == owner:
                change(params)
            return stock_load(path, params)

        stock_init = bindings.llama_init_from_model

        def init(model: Any, params: llama_cpp.llama_context_params) -> Any:
            if threading.get_ident() == owner:
                params.n_outputs_max = min(params.n_ubatch, MAX_OUTPUTS)
            return stock_init(model, params)

        redirecting: tuple[Any, ...] = (llama_cpp.llama, _internals)
        redirections = [(module, module.suppress_stdout_stderr) for module in redirecting]
        try:
            bindings.llama_model_load_from_file = load
            bindings.llama_init_from_model = init
            for module, _ in redirections:
                module.suppress_stdout_stderr = _KeepOutput
            yield
        finally:
            bindings.llama_model_load_from_file = stock_load
            bindings.llama_init_from_model = stock_init
            for module, stock in redirections:
                module.suppress_stdout_stderr = stock
