"""Measures what the presets' smaller caches cost, on the model that is loaded anyway."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autotune.control import Control
from autotune.pace import RUN_OVERHEAD_SECONDS, Pace, run_limit
from autotune.presets import Tuned, smaller_caches
from autotune.statistics import speed_interval
from autotune.workbench import Bench, BenchCrashedError, BenchRefusedError


@dataclass
class PresetBench:
    """`settings` makes changes whole, `note` keeps what failed, `tell` says what is being measured."""

    bench: Bench
    control: Control
    settings: Callable[[Mapping[str, Any]], dict[str, Any]]
    note: Callable[[str], None]
    tell: Callable[[str], None]

    def measure(self, tuned: Tuned, tempo: Pace, prompts: int, until: float) -> dict[str, float]:
        """Tokens per second by preset, the largest cache first, for as many as can be measured by `until`.

        A failure is a note: the preset is then predicted.
        """
        found: dict[str, float] = {}
        if tuned.tok_s is None:
            return found
        for key, nbytes in smaller_caches(tuned).items():
            self.tell(f"Measuring with {nbytes >> 20} MiB for experts")
            try:
                speeds = self._speeds({**tuned.chosen, "cache_bytes": nbytes}, tempo, 1.0 / tuned.tok_s, prompts, until)
            except (BenchCrashedError, BenchRefusedError) as error:
                self.note(f"an expert cache of {nbytes >> 20} MiB could not be measured: {error}")
                break
            middle = speed_interval(speeds)
            if middle is None or len(speeds) < prompts:
                break
            found[key] = middle.middle
        return found

    def _speeds(
        self, changes: Mapping[str, Any], tempo: Pace, token_s: float, prompts: int, until: float
    ) -> list[float]:
        speeds = []
        for prompt in range(prompts):
            left = until - self.control.clock()
            if left < 2 * (tempo.tokens + 1) * token_s + RUN_OVERHEAD_SECONDS:
                break
            limit = min(run_limit(tempo.tokens, token_s), left)
            run = self.bench.run(self.settings(changes), prompt, tempo.tokens, limit, self.control)
            if run.seconds:
                speeds.append(len(run.seconds) / sum(run.seconds))
        return speeds
