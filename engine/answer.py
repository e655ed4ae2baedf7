"""One answer: prompt tokens in, typed events out, measured. Knows nothing of terminals or HTTP.

`answer()` works on the caller's thread, one answer at a time per model. Prompt tokens that the model's context
already holds from the answer before (a conversation that grew) are not computed again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import llama_cpp
from llama_cpp.llama import LogitsProcessorList
from llama_cpp.llama_grammar import LlamaGrammar

from engine import context_state
from engine.errors import GannetError
from engine.loader import LoadedModel
from engine.phase import Phase
from engine.settings import EngineSettings
from engine.stop_flag import StopFlag
from engine.text_stream import TextStream
from engine.vocabulary import Vocabulary

FinishReason = Literal["stop", "length", "cancelled"]


class ContextOverflowError(GannetError):
    """The prompt does not fit into the context.

    Attributes:
        prompt_tokens: length of the prompt. context_length: tokens the context holds.
        can_grow: whether the model was made for a longer context than it was loaded with.
    """

    def __init__(self, prompt_tokens: int, context_length: int, can_grow: bool) -> None:
        cure = "shorten it" + (" or load the model with a larger --context" if can_grow else "; the model has no more")
        super().__init__(f"the prompt has {prompt_tokens} tokens and the context holds {context_length}; {cure}")
        self.prompt_tokens = prompt_tokens
        self.context_length = context_length
        self.can_grow = can_grow


@dataclass(frozen=True)
class AnswerOptions:
    """How to answer. Sampling is llama.cpp's own; a temperature of 0 always takes the likeliest token.

    Attributes:
        max_tokens: at most this many tokens; None: until the context is full.
        stop: texts that end the answer and are not part of it.
        special: show special tokens (a parser of their structure wants them).
        ignore_end: go on past the model's end of answer, for measuring.
        seed: None draws a new one.
    """

    max_tokens: int | None = None
    stop: Sequence[str] = ()
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    seed: int | None = None
    grammar: LlamaGrammar | None = None
    logits_processor: LogitsProcessorList | None = None
    special: bool = False
    ignore_end: bool = False

    @staticmethod
    def from_settings(settings: EngineSettings, **changes: Any) -> AnswerOptions:
        """The settings' sampling, with `changes` (fields of this class)."""
        names = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty", "seed")
        values: dict[str, Any] = {name: getattr(settings, name) for name in names}
        return AnswerOptions(**(values | changes))


@dataclass(frozen=True)
class PromptProgress:
    """`done` of `total` prompt tokens are in the context, `reused` of them from before."""

    done: int
    total: int
    reused: int


@dataclass(frozen=True)
class Piece:
    """A token was chosen. `text` is what may be shown now: empty while a character or stop string is unfinished."""

    token: int
    text: str


@dataclass(frozen=True)
class AnswerResult:
    """What `gannet generate --json` prints, field by field.

    Attributes:
        text: the answer. tokens: its token ids, without the one that ended it.
        load_s: time the model's load took.
        first_token_s: from `started` (by default: when the answer was asked for) to the first token.
        prompt_tok_s: prompt tokens computed per second. decode_tok_s: tokens per second after the first.
        hit_rate: share of expert look-ups found in memory while decoding; None where nothing is streamed.
        read_bytes_per_token, stall_ms_per_token: while decoding.
        cache_bytes: size of the expert cache. resident_bytes: weights always in memory.
        notes: one line for each fallback taken.
    """

    text: str
    tokens: tuple[int, ...]
    load_s: float
    first_token_s: float
    prompt_tok_s: float
    decode_tok_s: float
    hit_rate: float | None
    read_bytes_per_token: float
    stall_ms_per_token: float
    cache_bytes: int
    resident_bytes: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Finished:
    """The last event. `prompt_tokens` counts the whole prompt, `reused` those that were already in the context."""

    result: AnswerResult
    reason: FinishReason
    prompt_tokens: int
    reused: int


Event = PromptProgress | Piece | Finished


def answer(
    loaded: LoadedModel,
    prompt: Sequence[int],
    options: AnswerOptions,
    *,
    stop_flag: StopFlag | None = None,
    started: float | None = None,
) -> Iterator[Event]:
    """Answer `prompt` (token ids, at least one) with `loaded`.

    `stop_flag` ends it from another thread: within a token, and within a layer while the prompt is computed; the
    last event then says "cancelled". `started` is a `time.perf_counter()` value that `first_token_s` counts from.
    Raises `ContextOverflowError` before anything is computed, and `ReadFailedError` or `GannetError` if computing
    fails; the model can be asked again afterwards.
    """
    run = _Run(loaded, list(prompt), options, stop_flag or StopFlag(), started or time.perf_counter())
    return run.events()


class _CancelledError(Exception):
    """The stop flag ended a computation."""


class _Run:
    """State of one answer."""

    def __init__(
        self, loaded: LoadedModel, prompt: list[int], options: AnswerOptions, stop_flag: StopFlag, started: float
    ) -> None:
        self._loaded = loaded
        self._llama = loaded.llama
        self._prompt = prompt
        self._options = options
        self._stop_flag = stop_flag
        self._started = started
        self._vocabulary = Vocabulary(loaded.llama)
        self._stream = TextStream(options.stop)
        self._tokens: list[int] = []
        self._text: list[str] = []
        self._reused = 0
        self._first_token_s = 0.0
        self._prompt_phase = self._decode_phase = Phase(loaded)

    def events(self) -> Iterator[Event]:
        limit = self._token_limit()
        self._loaded.settle_threads()
        self._reused = context_state.keep_prefix(self._llama, self._prompt)
        reason: FinishReason = "cancelled"
        self._stop_flag.attach(self._llama.ctx)
        try:
            yield from self._compute_prompt()
            reason = yield from self._decode(limit)
        except _CancelledError:
            pass
        finally:
            self._stop_flag.detach(self._llama.ctx)
        rest = self._stream.finish()
        if rest:
            yield self._piece(self._tokens[-1], rest)
        yield Finished(self._result(), reason, len(self._prompt), self._reused)

    def _token_limit(self) -> int:
        if not self._prompt:
            raise GannetError("the prompt is empty; there is nothing to answer")
        # Not n_ctx(): llama.cpp rounds that up, and Llama keeps no more tokens than were asked for.
        holds = self._loaded.settings.context_length
        room = holds - len(self._prompt)
        if room < 1:
            raise ContextOverflowError(len(self._prompt), holds, holds < self._loaded.files.context_length)
        wanted = self._options.max_tokens
        return room if wanted is None else min(room, wanted)

    def _compute_prompt(self) -> Iterator[Event]:
        total, step = len(self._prompt), self._llama.n_batch
        phase = self._prompt_phase = Phase(self._loaded)
        yield PromptProgress(self._reused, total, self._reused)
        try:
            for at in range(self._reused, total, step):
                batch = self._prompt[at : at + step]
                with self._computing():
                    self._llama.eval(batch)
                self._loaded.count_tokens(prompt=len(batch), prompt_seconds=phase.add(len(batch)))
                yield PromptProgress(at + len(batch), total, self._reused)
        finally:
            phase.end()

    def _decode(self, limit: int) -> Generator[Event, None, FinishReason]:
        """Choose tokens one after the other; the prompt's logits give the first without computing."""
        chosen = self._llama.generate(self._prompt, **self._sampling())
        phase = self._decode_phase = Phase(self._loaded)
        try:
            self._loaded.begin_decoding()
            while len(self._tokens) < limit:
                begun = time.perf_counter()
                with self._computing():
                    token = next(chosen)
                if self._tokens:
                    self._loaded.decoded(time.perf_counter() - begun)
                    self._loaded.count_tokens(decoded=1, decode_seconds=phase.add(1))
                else:
                    self._first_token_s = time.perf_counter() - self._started
                    phase = self._decode_phase = Phase(self._loaded)
                if self._vocabulary.ends_answer(token) and not self._options.ignore_end:
                    return "stop"
                self._tokens.append(token)
                text = self._stream.feed(self._vocabulary.piece(token, self._options.special))
                yield self._piece(token, text)
                if self._stream.stopped:
                    return "stop"
                if self._stop_flag.is_set():
                    return "cancelled"
            return "length"
        finally:
            chosen.close()
            phase.end()

    def _sampling(self) -> dict[str, Any]:
        options = self._options
        self._llama.set_seed(llama_cpp.LLAMA_DEFAULT_SEED if options.seed is None else options.seed)
        names = ("top_k", "top_p", "min_p", "repeat_penalty", "frequency_penalty", "presence_penalty")
        sampling: dict[str, Any] = {name: getattr(options, name) for name in names}
        return sampling | {
            "temp": options.temperature,
            "grammar": options.grammar,
            "logits_processor": options.logits_processor,
        }

    @contextlib.contextmanager
    def _computing(self) -> Iterator[None]:
        """Turn a computation that llama.cpp gave up into what the caller has to know."""
        if self._stop_flag.is_set():
            raise _CancelledError
        try:
            yield
        except RuntimeError as error:
            context_state.recover(self._llama)
            if self._stop_flag.is_set():
                raise _CancelledError from None
            self._loaded.check()
            raise GannetError(f"llama.cpp could not compute this answer ({error})") from error

    def _piece(self, token: int, text: str) -> Piece:
        self._text.append(text)
        return Piece(token, text)

    def _result(self) -> AnswerResult:
        decode, telemetry = self._decode_phase, self._loaded.telemetry()
        return AnswerResult(
            text="".join(self._text),
            tokens=tuple(self._tokens),
            load_s=self._loaded.load_seconds,
            first_token_s=self._first_token_s,
            prompt_tok_s=self._prompt_phase.tokens_per_second,
            decode_tok_s=decode.tokens_per_second,
            hit_rate=decode.hit_rate,
            read_bytes_per_token=decode.bytes_read_per_token,
            stall_ms_per_token=decode.stall_ms_per_token,
            cache_bytes=telemetry.cache_bytes,
            resident_bytes=telemetry.resident_bytes,
            notes=self._loaded.notes,
        )
