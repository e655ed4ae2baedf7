"""The prompts that runs begin with: computed once, their states kept, so that a run costs its answer alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.replies import Prepared
from autotune.time_limit import stopping_after
from engine.errors import GannetError
from engine.loader import LoadedModel
from engine.prompt import text_prompt
from engine.sessions.model_memory import ModelMemory

FIRST_TOKENS = 4
"""Of a prompt, what is computed first: on a very slow machine that has to do."""


@dataclass
class PromptState:
    """A prompt's tokens and the state of the context after all but its last."""

    tokens: list[int]
    state: bytes

    def put(self, loaded: LoadedModel) -> bool:
        """Have the context hold the prompt; False if llama.cpp does not take the state back."""
        return ModelMemory(loaded.llama).restore(np.array(self.tokens[:-1], np.int32), self.state)


class PromptStates:
    """The prompts there are. `prompts[i]` counts on from the first again after the last."""

    def __init__(self) -> None:
        self._held: list[PromptState] = []

    def __getitem__(self, prompt: int) -> PromptState:
        if not self._held:
            raise GannetError("no prompt has been computed")
        return self._held[prompt % len(self._held)]

    def prepare(self, loaded: LoadedModel, texts: Sequence[str], limit_s: float) -> Prepared:
        """Compute `texts` instead of those that were there.

        Keeps to `limit_s`: on a slow machine prompts are cut to their first tokens, then left out; 0 prompts if not
        even the first tokens of one could be computed.
        """
        begin = time.perf_counter()
        end = begin + limit_s
        prompts = [text_prompt(loaded.llama, text).tokens for text in texts]
        self._held, cut = [], False
        for i, tokens in enumerate(prompts):
            first = time.perf_counter()
            short = computed(loaded, tokens[: FIRST_TOKENS + 1], end - first)
            if short is None:
                break
            took, now = time.perf_counter() - first, time.perf_counter()
            # A longer prompt reads further experts: as many times the time of its beginning, at worst.
            cut = cut or took * len(tokens) / FIRST_TOKENS > (end - now) / (len(prompts) - i)
            whole = None if cut else computed(loaded, tokens, end - now)
            self._held.append(whole or short)
        done = sum(len(held.tokens) - 1 for held in self._held)
        return Prepared(len(self._held), cut, done / (time.perf_counter() - begin))

    def put(self, loaded: LoadedModel, prompt: int, limit_s: float) -> list[int]:
        """Have the context hold all but the last of a prompt's tokens; returns them all.

        Raises `GannetError` where it has to be computed again and the time is too short.
        """
        held = self[prompt]
        if not held.put(loaded):
            again = computed(loaded, held.tokens, limit_s)
            if again is None:
                raise GannetError("the prompt could not be computed again in time")
            held.state = again.state
        return held.tokens


def computed(loaded: LoadedModel, tokens: list[int], limit_s: float) -> PromptState | None:
    """The state after all but the last of `tokens`; None if that took longer than `limit_s`."""
    memory = ModelMemory(loaded.llama)
    if not np.array_equal(memory.tokens, tokens[: memory.length]) or memory.length >= len(tokens):
        memory.clear()
    with stopping_after(limit_s) as flag:
        flag.attach(loaded.llama.ctx)
        try:
            rest = tokens[memory.length : -1]
            if rest:
                loaded.llama.eval(rest)
        except RuntimeError:  # llama.cpp gave up, because the flag said so or because a read failed
            loaded.check()
            memory.clear()
            if not flag.is_set():
                raise
            return None
        finally:
            flag.detach(loaded.llama.ctx)
    loaded.check()
    return PromptState(tokens, memory.save())
