"""One answer while it is worked on: small steps, so that the engine thread can turn to something else in between."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from engine.chat_format.parts import Part, ToolStart
from engine.errors import ReadFailedError
from engine.loader import LoadedModel
from engine.memory import memory_available
from engine.server.answer_cost import AnswerCost
from engine.server.answer_text import AnswerText
from engine.server.errors import ApiError, context_overflow, from_exception
from engine.server.job import Job
from engine.server.request import (
    Delta,
    Failed,
    Finished,
    FinishReason,
    PromptRead,
    Started,
    TokenLogprob,
    Usage,
)
from engine.server.token_choice import TokenChooser, logprob
from engine.sessions.conversations import Conversations
from engine.sessions.reuse import Tokens
from engine.vocabulary import Vocabulary

# Of the free memory, what answers that wait for their next turn may take; beyond it they wait for the end of others.
_SHARE_FOR_PARKED = 0.25


class AnswerRun:
    """Works on one job. Engine thread only.

    `activate` before the first `step` and after every `park`; `step` until it returns True. The job has then been
    given its last event. `close` frees what is left, finished or not.
    """

    def __init__(self, job: Job, loaded: LoadedModel, conversations: Conversations) -> None:
        self.job = job
        self._loaded = loaded
        self._llama = loaded.llama
        self._conversations = conversations
        self._vocabulary = Vocabulary(loaded.llama)
        prepared = job.prepared
        self._request = prepared.request
        self._prompt: Tokens = np.array(prepared.tokens, dtype=np.int32)
        self._text = AnswerText(self._vocabulary.piece, self._request.stop, prepared.stream)
        self._chooser: TokenChooser | None = None
        self._parked: tuple[Tokens, bytes] | None = None
        self._pending: list[int] = list(prepared.tokens)
        self._reused: int | None = None
        self._completion = 0
        self._tool_called = False
        self._deadline = time.monotonic() + self._request.time_limit
        self._context = min(self._llama.n_ctx(), len(self._llama.input_ids))
        self._cost = AnswerCost()

    @property
    def started(self) -> bool:
        """Whether any of it has been worked on."""
        return self._reused is not None

    def activate(self) -> None:
        """Bring the context to where this answer is. Raises `GannetError` if that cannot be done."""
        self._cost.resume(self._loaded.telemetry())
        if self._reused is None:
            self._begin()
        elif self._parked is not None:
            tokens, state = self._parked
            self._parked = None
            if not self._conversations.memory.restore(tokens, state):
                # Computed again: the answer goes on where it was.
                self._pending = [int(token) for token in tokens] + self._pending

    def may_park(self, parked: Iterable[AnswerRun]) -> bool:
        """Whether the memory that is free can hold this answer's state beside those of the parked ones."""
        held = sum(run.parked_bytes for run in parked)
        needed = self._conversations.memory.state_bytes()
        return needed < _SHARE_FOR_PARKED * (memory_available().available_bytes + held) - held

    @property
    def parked_bytes(self) -> int:
        """Size of the state that was copied aside."""
        return len(self._parked[1]) if self._parked is not None else 0

    def park(self) -> None:
        """Leave the context to another answer."""
        memory = self._conversations.memory
        self._parked = (memory.tokens, memory.save())
        self._cost.pause(self._loaded.telemetry())

    def step(self) -> bool:
        """Compute a batch of the prompt or one token; True when the answer is over."""
        if self.job.cancelled:
            return self._finish("cancelled")
        self.job.stop_flag.attach(self._llama.ctx)
        try:
            return self._step()
        except Exception as error:  # noqa: BLE001 - a failure ends this answer, never the thread
            return self._fail(error)
        finally:
            self.job.stop_flag.detach(self._llama.ctx)

    def fail(self, error: ApiError) -> None:
        """End it with an error that came from outside."""
        self.job.emit(Failed(error))
        self.close()

    def close(self) -> None:
        """Free the samplers and a parked state."""
        self._parked = None
        if self._chooser is not None:
            self._chooser.close()
            self._chooser = None

    def _begin(self) -> None:
        if len(self._prompt) >= self._context:
            raise context_overflow(len(self._prompt), self._context)
        self._chooser = TokenChooser(self._llama, self._request.sampling, self.job.prepared.grammar)
        reused = self._conversations.enter(self._prompt, reuse=self._request.reuse)
        self._pending = [int(token) for token in self._prompt[reused:]]
        self._reused = reused

    def _account(self, prompt: int, seconds: float) -> None:
        """Count a step that computed `prompt` prompt tokens, or one token of the answer if 0."""
        self._cost.add(prompt=prompt, seconds=seconds)
        if prompt:
            self._loaded.count_tokens(prompt=prompt, prompt_seconds=seconds)
        else:
            self._loaded.count_tokens(decoded=1, decode_seconds=seconds)

    def _step(self) -> bool:
        batch, first, started = self._next_batch(), self._completion == 0, time.perf_counter()
        if not self._compute(batch):
            return self._finish("cancelled")
        self._pending = self._pending[len(batch) :]
        if self._pending:
            self._account(len(batch), time.perf_counter() - started)
            self.job.emit(PromptRead(self._conversations.memory.length, len(self._prompt)))
            return False
        token, probabilities = self._choose()
        self._account(len(batch) if first else 0, time.perf_counter() - started)
        if first:
            self.job.emit(Started(len(self._prompt), self._reused or 0))
        return self._take(token, probabilities)

    def _next_batch(self) -> list[int]:
        """The next tokens to compute: at most a batch, and not across a place where a checkpoint is wanted."""
        limit = self._llama.n_batch
        if not self._conversations.memory.cuttable:
            here = self._conversations.memory.length
            ahead = next((at for at in self.job.prepared.boundaries if at > here), None)
            limit = limit if ahead is None else min(limit, ahead - here)
        return self._pending[:limit]

    def _compute(self, batch: list[int]) -> bool:
        """Compute; False if the client went away meanwhile."""
        try:
            self._llama.eval(batch)
        except RuntimeError as error:
            self._loaded.check()
            self._conversations.memory.forget_unfinished()
            if self.job.cancelled:
                return False
            raise ReadFailedError(f"llama.cpp could not compute the answer: {error}") from error
        self._loaded.check()
        if self._conversations.memory.length in self.job.prepared.boundaries:
            self._conversations.checkpoint()
        return True

    def _choose(self) -> tuple[int, tuple[TokenLogprob, ...]]:
        assert self._chooser is not None
        top = self._request.top_logprobs
        raw = self._chooser.logits().copy() if top is not None else None
        token = self._chooser.choose(use_grammar=not self._text.thinking)
        if raw is None or top is None:
            return token, ()
        return token, (logprob(raw, token, top, self._vocabulary),)

    def _take(self, token: int, probabilities: tuple[TokenLogprob, ...]) -> bool:
        if self._vocabulary.ends_answer(token):
            return self._finish("stop")
        self._completion += 1
        self._emit(self._text.feed(token), probabilities)
        if self._text.stopped:
            return self._finish("stop")
        if self._request.max_tokens is not None and self._completion >= self._request.max_tokens:
            return self._finish("length")
        if self._conversations.memory.length >= self._context or time.monotonic() > self._deadline:
            return self._finish("length")
        self._pending = [token]
        return False

    def _emit(self, parts: list[Part], probabilities: tuple[TokenLogprob, ...] = ()) -> None:
        self._tool_called = self._tool_called or any(isinstance(part, ToolStart) for part in parts)
        if parts or probabilities:
            self.job.emit(Delta(tuple(parts), probabilities))

    def _finish(self, reason: FinishReason) -> bool:
        self._emit(self._text.finish())
        if reason == "stop" and self._tool_called:
            reason = "tool_calls"
        usage = Usage(len(self._prompt), self._reused or 0, self._completion)
        self._cost.pause(self._loaded.telemetry())
        self.job.emit(Finished(reason, usage, self._cost.timings(self._completion), self._text.stop_text))
        self.close()
        return True

    def _fail(self, error: Exception) -> bool:
        self.job.emit(Failed(from_exception(error)))
        self.close()
        return True
