"""Whether two ways of running a model compute the same: recordings of tokens and logits, compared bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import llama_cpp
import numpy as np
import numpy.typing as npt

from engine import context_state
from engine.loader import LoadedModel


@dataclass(frozen=True)
class Recording:
    """What a model computed.

    Attributes:
        tokens: the prompt's and then those chosen greedily; int32, shape (n,).
        logits: one row after each token but the last; float32, shape (n - 1, vocabulary).
    """

    tokens: npt.NDArray[np.int32]
    logits: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Difference:
    """Where two recordings first differ: the row of logits, and the largest difference of two logits in it."""

    position: int
    largest: float
    differing: int

    def __str__(self) -> str:
        return f"position {self.position}: {self.differing} logits differ, by up to {self.largest:.3g}"


def record(loaded: LoadedModel, prompt: Sequence[int], n_decode: int, batch: int | None = None) -> Recording:
    """Compute `prompt` anew in batches of `batch` tokens (default: the model's), then `n_decode` greedy tokens.

    Raises `RuntimeError` as llama_cpp does if computing fails.
    """
    context_state.clear(loaded.llama)
    step = batch or loaded.llama.n_batch
    rows = [_evaluate(loaded, prompt[at : at + step]) for at in range(0, len(prompt), step)]
    tokens = list(prompt)
    for _ in range(n_decode):
        tokens.append(int(rows[-1][-1].argmax()))
        rows.append(_evaluate(loaded, tokens[-1:]))
    tokens.append(int(rows[-1][-1].argmax()))
    return Recording(np.array(tokens, np.int32), np.concatenate(rows))


def _evaluate(loaded: LoadedModel, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
    """Logits after each of `tokens`; `Llama.eval` would keep the last only."""
    llama = loaded.llama
    llama._batch.set_batch(batch=tokens, n_past=llama.n_tokens, logits_all=True)
    llama._ctx.decode(llama._batch)
    llama.input_ids[llama.n_tokens : llama.n_tokens + len(tokens)] = tokens
    llama.n_tokens += len(tokens)
    return np.ctypeslib.as_array(llama_cpp.llama_get_logits(llama.ctx), (len(tokens), llama.n_vocab())).copy()


def first_difference(one: Recording, other: Recording) -> Difference | None:
    """The first row in which the bits of the logits differ; None if there is none."""
    n = min(len(one.logits), len(other.logits))
    differs = one.logits[:n].view(np.uint32) != other.logits[:n].view(np.uint32)
    rows = np.flatnonzero(differs.any(axis=1))
    if len(rows) == 0:
        return None if len(one.logits) == len(other.logits) else Difference(n, float("inf"), 0)
    at = int(rows[0])
    largest = np.abs(one.logits[at].astype(np.float64) - other.logits[at]).max()
    return Difference(at, float(largest), int(differs[at].sum()))
