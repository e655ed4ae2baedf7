"""The process that holds the model while it is measured: one JSON request a line in, one JSON reply a line out.

A process of its own, so that an arm that runs out of memory ends this and not the tuning, and so that a cancelled
tuning is over at once. It ends when its input does.

Requests: `load` (path, settings), `prepare` (settings, limit_s), `run` (settings, prompt, tokens, limit_s), `go_on`
(settings, tokens, limit_s), `turn` (path, settings, prompt_tokens, tokens, limit_s), `census`. A reply has the fields
of the matching record in `autotune.replies`, or `error` with one line.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil

from autotune.prompt_states import PromptStates
from autotune.prompts import LONG_TEXT, PROMPTS
from autotune.replies import Census, Loaded, Prepared, Run, Turned
from autotune.time_limit import stopping_after
from engine.answer import AnswerOptions, AnswerResult, Finished, Piece, PromptProgress, answer
from engine.errors import GannetError
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.prompt import text_prompt
from engine.settings import EngineSettings, make_settings

SETTLE_TOKENS = 8
"""After a change of the cache's size, so many tokens of another prompt are computed before anything is measured."""
_STILL = {"census": False, "elastic": False, "save_battery": False, "lookahead_trial": False}


class Worker:
    """One loaded model at a time."""

    def __init__(self) -> None:
        self._loaded: LoadedModel | None = None
        self._path = Path()
        self._prompts = PromptStates()
        self._said: list[int] = []  # prompt and answer of the last run
        self._cache_bytes: int | None = None  # as wanted for the last run

    def load(self, path: str, settings: Mapping[str, Any]) -> Loaded:
        """Load, or load again with other settings."""
        self.close()
        self._path, self._said = Path(path), []
        wanted = _measured(settings)
        loaded = self._loaded = load(open_model(self._path), wanted)
        counted = loaded.telemetry()
        self._cache_bytes = wanted.cache_bytes
        return Loaded(
            load_s=loaded.load_seconds,
            streaming=loaded.streaming,
            cache_bytes=counted.cache_bytes,
            resident_bytes=counted.resident_bytes,
            context_length=loaded.settings.context_length,
            memory_bytes=psutil.Process().memory_info().rss,
            notes=loaded.notes,
        )

    def prepare(self, settings: Mapping[str, Any], limit_s: float, texts: Sequence[str] = PROMPTS) -> Prepared:
        """Compute the prompts `texts` under `settings` and keep their states (see `PromptStates.prepare`)."""
        loaded, _ = self._with(settings)
        return self._prompts.prepare(loaded, texts, limit_s)

    def run(self, settings: Mapping[str, Any], prompt: int, tokens: int, limit_s: float) -> Run:
        """Continue a prompt greedily by `tokens` tokens after the first, at most for `limit_s`."""
        loaded, load_s = self._with(settings)
        self._settle(loaded, prompt + 1, limit_s)
        return self._measure(loaded, self._prompts.put(loaded, prompt, limit_s), tokens, limit_s, load_s)

    def go_on(self, settings: Mapping[str, Any], tokens: int, limit_s: float) -> Run:
        """Go on with the answer of the last run, under `settings`, which may be others."""
        loaded, load_s = self._with(settings)
        if not self._said:
            raise GannetError("there is no answer to go on with")
        return self._measure(loaded, self._said, tokens, limit_s, load_s)

    def _measure(self, loaded: LoadedModel, prompt: list[int], tokens: int, limit_s: float, load_s: float) -> Run:
        ids, times, _done, result = _answer(loaded, prompt, tokens, limit_s)
        loaded.check()
        self._said = [*prompt, *ids]
        return Run(
            tokens=tuple(ids),
            seconds=tuple(float(x) for x in np.diff(times)),
            first_token_s=result.first_token_s,
            hit_rate=result.hit_rate,
            stall_ms_per_token=result.stall_ms_per_token,
            read_bytes_per_token=result.read_bytes_per_token,
            cache_bytes=result.cache_bytes,
            memory_bytes=psutil.Process().memory_info().rss,
            load_s=load_s,
        )

    def _settle(self, loaded: LoadedModel, prompt: int, limit_s: float) -> None:
        """Let the cache find its content if its size is another than in the last run."""
        size = loaded.settings.cache_bytes
        if size != self._cache_bytes and self._prompts[prompt].put(loaded):
            _answer(loaded, self._prompts[prompt].tokens, SETTLE_TOKENS, limit_s)
        self._cache_bytes = size

    def turn(self, path: str, settings: Mapping[str, Any], prompt_tokens: int, tokens: int, limit_s: float) -> Turned:
        """Load anew, compute `prompt_tokens` tokens of a long text, answer with `tokens` tokens after the first."""
        self.load(path, settings)
        loaded = self._loaded
        assert loaded is not None  # `load` raises otherwise
        text = text_prompt(loaded.llama, LONG_TEXT).tokens
        prompt = (text * (prompt_tokens // len(text) + 1))[:prompt_tokens]
        begin = time.perf_counter()
        ids, times, (done, at), _result = _answer(loaded, prompt, tokens, limit_s)
        loaded.check()
        return Turned(
            tokens=tuple(ids),
            seconds=tuple(float(x) for x in np.diff(times)),
            prompt_tok_s=done / (at - begin) if done else 0.0,
            load_s=loaded.load_seconds,
            cache_bytes=loaded.telemetry().cache_bytes,
            memory_bytes=psutil.Process().memory_info().rss,
        )

    def census(self) -> Census:
        """What the answers so far have used; empty where nothing is streamed."""
        if self._loaded is None:
            raise GannetError("no model is loaded")
        return Census(self._loaded.expert_map().uses)

    def _with(self, settings: Mapping[str, Any]) -> tuple[LoadedModel, float]:
        """The model under `settings`, and the seconds of a new load if they needed one."""
        if self._loaded is None:
            raise GannetError("no model is loaded")
        wanted = _measured(settings)
        capped = min(wanted.context_length, self._loaded.files.context_length or wanted.context_length)
        if not self._loaded.apply(wanted.model_copy(update={"context_length": capped})):
            return self._loaded, 0.0
        self.load(str(self._path), settings)
        return self._loaded, self._loaded.load_seconds

    def close(self) -> None:
        """Free the model."""
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None


def _measured(settings: Mapping[str, Any]) -> EngineSettings:
    """The settings without the census: what former sessions have learnt would favour the arm that comes first.

    Nor do the cache, the number of threads and lookahead follow memory, the plug and what pays: they stay what an arm
    says.
    """
    return make_settings({**settings, **_STILL})


def _answer(
    loaded: LoadedModel, prompt: list[int], tokens: int, limit_s: float
) -> tuple[list[int], list[float], tuple[int, float], AnswerResult]:
    """Greedily `tokens` tokens after the first: ids, their times, (prompt tokens computed, when), and the counts."""
    options = AnswerOptions(max_tokens=tokens + 1, temperature=0.0, ignore_end=True)
    times: list[float] = []
    ids: list[int] = []
    done = (0, 0.0)
    result = None
    with stopping_after(limit_s) as flag:
        for event in answer(loaded, prompt, options, stop_flag=flag):
            if isinstance(event, PromptProgress) and event.done > event.reused:
                done = (event.done - event.reused, time.perf_counter())
            if isinstance(event, Piece) and len(ids) < tokens + 1:
                ids.append(event.token)
                times.append(time.perf_counter())
            if isinstance(event, Finished):
                result = event.result
    assert result is not None  # an answer that ends without an exception ends with `Finished`
    return ids, times, done, result


def serve(requests: IO[str], replies: IO[str]) -> None:
    """Answer requests until the input ends."""
    worker = Worker()
    actions: dict[str, Callable[..., Any]] = {
        "load": worker.load,
        "prepare": worker.prepare,
        "run": worker.run,
        "go_on": worker.go_on,
        "turn": worker.turn,
        "census": worker.census,
    }
    for line in requests:
        request = json.loads(line)
        try:
            reply = asdict(actions[request.pop("do")](**request))
        except (GannetError, MemoryError, OSError, RuntimeError, ValueError) as error:
            reply = {"error": f"{error}" or type(error).__name__}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
    worker.close()


def main() -> None:
    """Keep the real output for replies; whatever else prints goes to stderr."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, replies)


if __name__ == "__main__":
    main()
