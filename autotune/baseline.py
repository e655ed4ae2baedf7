"""The model loaded, its prompts computed, and the first answers of the settings a tuning begins with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from autotune.arms import Answers
from autotune.axes import Automatic, Sight
from autotune.candidates import operating
from autotune.control import Control
from autotune.findings import Findings
from autotune.machine import MachineModel, Observed, Operating
from autotune.pace import BASELINE_SHARE, MOST_FAST_TOKENS, PREPARE_SHARE
from autotune.replies import Loaded, Prepared, Run
from autotune.workbench import Bench, BenchCrashedError, BenchRefusedError, BenchTimeoutError
from engine.errors import GannetError
from engine.gguf import ModelFiles
from engine.memory import memory_available, plan_memory
from engine.processors import available_cores
from engine.settings import EngineSettings

BASELINE_TOKENS = 6
BASELINE_SECONDS = 1.0
"""The defaults' first answers are at least so many tokens, and where those are fast as many as take so long."""

SETTLED = 0.9
"""Once around all prompts still reads more than this share of what the time before read: the cache has settled. Of the
17.1 GB model with 5,500 MiB, three prompts of 12 tokens each: 169, 136, 116, 111, 108, 106 MiB a token."""
SETTLE_SHARE = 0.12
"""Of the budget, what settling may take. Without it each arm of the first round would be faster than the one before."""


class TuningFailedError(GannetError):
    """The model could not be measured at all; the message says why."""


@dataclass(frozen=True)
class Baseline:
    """What is known once the defaults have answered.

    `prompts` is how many were computed, at `prompt_tok_s`. `token_s`: a token of the defaults. `guessed_tok_s`: what
    the machine model expected of them, before they calibrated it to `model`.
    """

    base: EngineSettings
    loaded: Loaded
    automatic: Automatic
    prompts: int
    prompt_tok_s: float
    token_s: float
    guessed_tok_s: float
    model: MachineModel

    def settings(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The base with an arm's changes, for the bench, which was loaded with another cache than the automatic one."""
        changes = dict(changes)
        if "cache_bytes" in changes and changes["cache_bytes"] is None:
            changes["cache_bytes"] = self.automatic.cache_bytes
        return self.base.model_copy(update=changes).model_dump()

    def operating(self, changes: Mapping[str, Any]) -> Operating:
        """The operating point of the base with changes."""
        return operating(self.base, changes, self.automatic)


@dataclass
class BaselineBench:
    """Measures the baseline, and brings the bench back to it after a crash. `budget_s`: of the whole tuning."""

    bench: Bench
    files: ModelFiles
    base: EngineSettings
    findings: Findings
    answers: Answers
    control: Control
    budget_s: float
    tell: Callable[[float, str], None]

    def measure(self) -> Baseline:
        """Load, compute the prompts, answer each once. Raises `TuningFailedError`, or `BenchTimeoutError`."""
        try:
            self.tell(0.18, "Loading the model")
            planned = self._planned_cache()  # while the memory that the model will take is free
            loaded = self._load()
            self.tell(0.20, "Computing the prompts to measure with")
            prepared = self._prepare()
            automatic = self._automatic(loaded, planned)
            model, at = self.findings.model(), operating(self.base, {}, automatic)
            guess = model.expect(at).seconds
            runs = self._answer(prepared.prompts, guess)
        except BenchTimeoutError:
            raise
        except (BenchCrashedError, BenchRefusedError) as error:
            raise TuningFailedError(f"{self.files.path.name} could not be measured: {error}") from error
        self._note(loaded, prepared)
        seen = observed(runs)
        model = model.calibrated(at, seen)
        prompts, prompt_tok_s = prepared.prompts, prepared.prompt_tok_s
        return Baseline(self.base, loaded, automatic, prompts, prompt_tok_s, seen.token_s, 1.0 / guess, model)

    def restore(self) -> None:
        """Load and compute the prompts again."""
        self._load()
        self._prepare()

    def _load(self) -> Loaded:
        return self.bench.load(self.files.path, self.base.model_dump(), self.control)

    def _prepare(self) -> Prepared:
        """Have the prompts computed. Raises `BenchTimeoutError` if there was not even time for the first of them."""
        limit_s = PREPARE_SHARE * self.budget_s
        prepared = self.bench.prepare(self._sane(), limit_s, self.control)
        if not prepared.prompts:
            raise BenchTimeoutError(f"the first tokens of a prompt took longer than {limit_s:.0f} s")
        return prepared

    def _sane(self) -> dict[str, Any]:
        """What to compute the prompts with: they need not suffer from settings that change no answer."""
        fields = EngineSettings.model_fields
        changes = {name: fields[name].default for name in ("io_threads", "lookahead")}
        return self.base.model_copy(update={**changes, "threads": self.findings.best_threads}).model_dump()

    def _answer(self, prompts: int, guess_s: float) -> list[Run]:
        """Answer every prompt again and again until the cache has settled; returns the last time around."""
        tokens = max(BASELINE_TOKENS, min(MOST_FAST_TOKENS, int(BASELINE_SECONDS / max(guess_s, 1e-6))))
        limit = max(3.0, min(10.0 * tokens * guess_s, BASELINE_SHARE * self.budget_s / prompts))
        clock = self.control.clock
        begin = clock()
        runs = self._around(prompts, tokens, limit)
        longest = took = clock() - begin
        while _read(runs) > 0 and took + longest < SETTLE_SHARE * self.budget_s:
            before, runs = _read(runs), self._around(prompts, tokens, limit)
            longest, took = max(longest, clock() - begin - took), clock() - begin
            if _read(runs) > SETTLED * before:
                break
        return runs

    def _around(self, prompts: int, tokens: int, limit_s: float) -> list[Run]:
        runs = []
        for prompt in range(prompts):
            runs.append(self.bench.run(self.base.model_dump(), prompt, tokens, limit_s, self.control))
            self.answers.learn(prompt, runs[-1].tokens)
        return runs

    def _planned_cache(self) -> int:
        """Bytes of an automatic cache; 0 where the whole model fits."""
        plan = plan_memory(self.files, self.base.model_copy(update={"cache_bytes": None}), memory_available())
        return plan.cache_bytes if plan.streaming else 0

    def _automatic(self, loaded: Loaded, planned: int) -> Automatic:
        """What automatic values mean here. A cache that is automatic already is the one that was loaded."""
        cores, everything = available_cores(), self.findings.facts.experts_bytes
        if not loaded.streaming:
            return Automatic(cores, everything, everything)
        return Automatic(cores, loaded.cache_bytes if self.base.cache_bytes is None else planned, loaded.cache_bytes)

    def _note(self, loaded: Loaded, prepared: Prepared) -> None:
        if prepared.prompts < 3:
            self.findings.note([f"computing a prompt takes long here: only {prepared.prompts} of 3 are used"])
        elif prepared.shortened:
            self.findings.note(["computing a prompt takes long here: short ones are used"])
        self.findings.note(loaded.notes)


def _read(runs: list[Run]) -> float:
    """Bytes per token."""
    return fmean(run.read_bytes_per_token for run in runs)


def observed(runs: list[Run]) -> Observed:
    """What runs show in all. Raises `BenchTimeoutError` if not one token was computed."""
    seconds = [s for run in runs for s in run.seconds]
    if not seconds:
        raise BenchTimeoutError("not one token was computed in the time there was")
    stall_ms = fmean(r.stall_ms_per_token for r in runs)
    return Observed(fmean(seconds), stall_ms / 1e3, fmean(r.read_bytes_per_token for r in runs))


def sight(baseline: Baseline, findings: Findings, prompt_tokens: int = 0) -> Sight:
    """What candidates are chosen from."""
    streaming = baseline.loaded.streaming
    return Sight(baseline.model, baseline.base, baseline.automatic, prompt_tokens, findings.devices, streaming)
