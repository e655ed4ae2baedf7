"""Choosing tokens: llama.cpp's samplers in their usual order, a grammar where one is asked for, log-probabilities."""

from __future__ import annotations

import ctypes
import random
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt
from llama_cpp import _internals as internals

from engine.server.errors import bad_request
from engine.server.request import Sampling, TokenLogprob
from engine.vocabulary import Vocabulary

_PENALIZED_TOKENS = 64
_SEEDS = (1 << 32) - 1  # the last one means "random" to llama.cpp
_REJECTED = float("-inf")

Logits = npt.NDArray[np.float32]


class TokenChooser:
    """Chooses the tokens of one answer; holds its random numbers and its position in the grammar.

    The grammar looks at the chosen token first and at the whole vocabulary only if it refuses that one: with 150,000
    tokens the other order costs tens of milliseconds per token.
    """

    def __init__(self, llama: llama_cpp.Llama, sampling: Sampling, grammar: str | None) -> None:
        self._llama = llama
        self._size = int(llama.n_vocab())
        self._chain = _sampler_chain(self._size, sampling)
        self._grammar = None if grammar is None else _grammar_sampler(llama, grammar)
        self._candidates = internals.LlamaTokenDataArray(n_vocab=self._size)

    def choose(self, use_grammar: bool) -> int:
        """The next token after the context's last computed one."""
        logits = self.logits()
        token = self._apply(logits, constrained=False)
        if self._grammar is not None and use_grammar:
            if not self._grammar_allows(token):
                token = self._apply(logits, constrained=True)
            llama_cpp.llama_sampler_accept(self._grammar, token)
        self._chain.accept(token)
        return token

    def logits(self) -> Logits:
        """Logits after the last computed token, shape (n_vocab,): llama.cpp's own memory, good until it computes."""
        pointer = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
        return np.ctypeslib.as_array(pointer, shape=(self._size,))

    def close(self) -> None:
        """Free the samplers."""
        self._chain.close()  # type: ignore[no-untyped-call]
        if self._grammar is not None:
            llama_cpp.llama_sampler_free(self._grammar)
            self._grammar = None

    def _apply(self, logits: Logits, constrained: bool) -> int:
        array = self._candidates
        array.copy_logits(logits)
        array.candidates.selected = -1
        reference = ctypes.byref(array.candidates)
        if constrained:
            llama_cpp.llama_sampler_apply(self._grammar, reference)
        llama_cpp.llama_sampler_apply(self._chain.sampler, reference)
        return int(array.candidates.data[array.candidates.selected].id)

    def _grammar_allows(self, token: int) -> bool:
        single = llama_cpp.llama_token_data(id=token, logit=1.0, p=0.0)
        array = llama_cpp.llama_token_data_array(data=ctypes.pointer(single), size=1, selected=-1, sorted=False)
        llama_cpp.llama_sampler_apply(self._grammar, ctypes.byref(array))
        return bool(single.logit != _REJECTED)


def _sampler_chain(n_vocab: int, sampling: Sampling) -> internals.LlamaSampler:
    chain = internals.LlamaSampler()  # type: ignore[no-untyped-call]
    if sampling.logit_bias:
        chain.add_logit_bias(n_vocab, dict(sampling.logit_bias))
    chain.add_penalties(
        n_vocab=n_vocab,
        penalty_last_n=_PENALIZED_TOKENS,
        penalty_repeat=sampling.repeat_penalty,
        penalty_freq=sampling.frequency_penalty,
        penalty_present=sampling.presence_penalty,
    )
    if sampling.temperature <= 0:
        chain.add_greedy()  # type: ignore[no-untyped-call]
        return chain
    chain.add_top_k(sampling.top_k)
    chain.add_top_p(sampling.top_p)
    chain.add_min_p(sampling.min_p)
    chain.add_temp(sampling.temperature)
    chain.add_dist(random.randrange(_SEEDS) if sampling.seed is None else sampling.seed % _SEEDS)
    return chain


def check_grammar(llama: llama_cpp.Llama, grammar: str) -> None:
    """Raise `ApiError` 400 if llama.cpp cannot use the grammar. Any thread."""
    llama_cpp.llama_sampler_free(_grammar_sampler(llama, grammar))


def _grammar_sampler(llama: llama_cpp.Llama, grammar: str) -> Any:
    vocab = llama_cpp.llama_model_get_vocab(llama.model)
    sampler = llama_cpp.llama_sampler_init_grammar(vocab, grammar.encode(), b"root")
    if not sampler:
        raise bad_request("the JSON schema cannot be turned into a grammar", "invalid_schema", "response_format")
    return sampler


def logprob(logits: Logits, token: int, top: int, vocabulary: Vocabulary) -> TokenLogprob:
    """Natural log-probability of `token` before any sampler changed it, and of the `top` likeliest."""
    values = logits.astype(np.float64)
    values -= values.max()
    values -= np.log(np.exp(values).sum())
    likeliest = np.argsort(-values, kind="stable")[:top]
    alternatives = tuple((vocabulary.piece(int(other), special=True), float(values[other])) for other in likeliest)
    return TokenLogprob(vocabulary.piece(token, special=True), float(values[token]), alternatives)
