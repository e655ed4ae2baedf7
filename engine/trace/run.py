"""Run prompts through stock llama.cpp, plain mode, with a recorder looking on."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import llama_cpp
import numpy as np
import numpy.typing as npt
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from engine import llama_log
from engine.errors import GannetError
from engine.trace.format import RoutingTrace
from engine.trace.recorder import Recorder


class TraceRunError(GannetError):
    """A model that cannot be loaded or has no routers to record."""


@dataclasses.dataclass(frozen=True)
class RunSettings:
    """How to run: tokens per prompt, ubatch in tokens, temperature 0 for greedy decoding."""

    tokens: int = 200
    ubatch: int = 512
    context: int = 4096
    threads: int = 2
    temperature: float = 0.0
    seed: int = 0
    chat: bool = True
    ignore_end: bool = False


class PlainModel:
    """A model and context of stock llama.cpp with an evaluation callback; a context manager."""

    def __init__(self, path: Path, settings: RunSettings, observe: Callable[[int, bool], bool]) -> None:
        self._looking_on = observe
        self._failure: BaseException | None = None
        # Kept: llama.cpp holds a bare pointer.
        self._observe = llama_cpp.ggml_backend_sched_eval_callback(self._called)
        llama_cpp.llama_backend_init()
        model_params = llama_cpp.llama_model_default_params()
        model_params.n_gpu_layers = 0
        model_params.use_extra_bufts = False  # ggml's AMX path crashes on some machines
        with llama_log.collected() as records:
            self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), model_params)
        if not self.model:
            raise TraceRunError(
                f"{path}: llama.cpp cannot load this file: {llama_log.reason(records) or 'no reason given'}"
            )
        context_params = llama_cpp.llama_context_default_params()
        context_params.n_ctx = min(settings.context, llama_cpp.llama_model_n_ctx_train(self.model))
        context_params.n_batch = context_params.n_ubatch = settings.ubatch
        context_params.n_threads = context_params.n_threads_batch = settings.threads
        context_params.cb_eval = self._observe
        self.context = llama_cpp.llama_init_from_model(self.model, context_params)
        if not self.context:
            llama_cpp.llama_model_free(self.model)
            raise TraceRunError(f"{path}: not enough memory for a context of {context_params.n_ctx} tokens")
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)
        self.n_context = int(llama_cpp.llama_n_ctx(self.context))
        self._batch = llama_cpp.llama_batch_init(settings.ubatch, 0, 1)

    def _called(self, node: int, ask: bool, _: object) -> bool:
        """llama.cpp's callback. What goes wrong in it (Ctrl+C mostly arrives here) waits for `evaluate` to raise it."""
        if self._failure is not None:
            return False
        try:
            return self._looking_on(node, ask)
        except BaseException as error:  # noqa: BLE001 - no exception passes through C; raised below
            self._failure = error
            return False

    def close(self) -> None:
        """Free the model and its context."""
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self.context)
        llama_cpp.llama_model_free(self.model)

    def forget(self) -> None:
        """Empty the KV cache: the next tokens begin a conversation."""
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def tokenize(self, text: str) -> list[int]:
        """Token ids of `text`, special tokens recognised."""
        raw = text.encode()
        room = (llama_cpp.llama_token * (len(raw) + 8))()
        count = llama_cpp.llama_tokenize(self.vocab, raw, len(raw), room, len(room), True, True)
        return list(room[:count])

    def chat(self, prompt: str) -> str:
        """`prompt` as the user's first message, by the model's template; as it is if it has none."""
        template = llama_cpp.llama_model_chat_template(self.model, None)
        if not template:
            return prompt
        formatter = Jinja2ChatFormatter(template.decode(), eos_token="", bos_token="")
        return formatter(messages=[{"role": "user", "content": prompt}]).prompt

    def evaluate(self, tokens: Sequence[int], position: int) -> npt.NDArray[np.float32]:
        """Evaluate at most one ubatch of tokens; logits of the last. Raises what the callback raised."""
        batch = self._batch
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i] = token, position + i
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
            batch.logits[i] = 1  # an output for each, or the last layer sees only the last token
        status = llama_cpp.llama_decode(self.context, batch)
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if status != 0:
            raise TraceRunError(f"llama.cpp failed to evaluate {len(tokens)} tokens at position {position}")
        n_vocab = llama_cpp.llama_vocab_n_tokens(self.vocab)
        logits = llama_cpp.llama_get_logits_ith(self.context, -1)
        return np.array(np.ctypeslib.as_array(logits, (n_vocab,)), np.float32)

    def ends(self, token: int) -> bool:
        """Whether the token ends an answer."""
        return bool(llama_cpp.llama_vocab_is_eog(self.vocab, token))


def _sample(logits: npt.NDArray[np.float32], temperature: float, random: np.random.Generator) -> int:
    if temperature <= 0:
        return int(logits.argmax())
    scaled = (logits - logits.max()) / temperature
    chances = np.exp(scaled, dtype=np.float64)
    return int(random.choice(len(chances), p=chances / chances.sum()))


def _converse(model: PlainModel, prompt: str, settings: RunSettings, random: np.random.Generator) -> Iterator[bool]:
    """Evaluate a prompt and its answer; yields after each evaluation whether it was a decoded token."""
    model.forget()
    tokens = model.tokenize(model.chat(prompt) if settings.chat else prompt)[: model.n_context - 1]
    if not tokens:
        raise TraceRunError("--prompt is empty; give the model something to read")
    logits = np.zeros(0, np.float32)
    for start in range(0, len(tokens), settings.ubatch):
        logits = model.evaluate(tokens[start : start + settings.ubatch], start)
        yield False
    for position in range(len(tokens), min(len(tokens) + settings.tokens, model.n_context)):
        token = _sample(logits, settings.temperature, random)
        if model.ends(token) and not settings.ignore_end:
            return
        logits = model.evaluate([token], position)
        yield True


def record(
    path: Path,
    prompts: Sequence[str],
    settings: RunSettings,
    recorder: Recorder,
    progress: Callable[[int], None] = lambda decoded: None,
) -> RoutingTrace:
    """Answer the prompts, each a conversation of its own, and return what the recorder saw.

    `progress` is called with the number of tokens decoded so far. Raises TraceRunError.
    """
    random = np.random.default_rng(settings.seed)
    decoded_tokens = 0
    with contextlib.closing(PlainModel(path, settings, recorder.observe)) as model:
        for prompt in prompts:
            for decoded in _converse(model, prompt, settings, random):
                recorder.end_batch(decoded)
                decoded_tokens += decoded
                progress(decoded_tokens)
    try:
        return recorder.trace(path.name)
    except ValueError as error:
        raise TraceRunError(f"{path}: no expert router was seen; a trace needs a mixture-of-experts model") from error
