"""The tuner as the engine's service knows it: the entry points of the group `gannet.tuner`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autotune.facts import facts_of
from autotune.result import TuneEvent
from autotune.store import TuningStore, current_fingerprint
from autotune.tuner import SHORTEST_BUDGET_S
from autotune.tuner import tune as run_tuning
from engine.gguf import open_model
from engine.settings import EngineSettings


def tune(
    path: Path,
    settings: EngineSettings,
    *,
    budget_s: float,
    report: Callable[[Mapping[str, Any]], None],
    cancelled: Callable[[], bool],
) -> None:
    """Tune the model at `path`; every event is reported as a JSON object (`autotune.result.TuneEvent`).

    A finished result is kept in the user's folder; a cancelled one is not.
    """

    def pass_on(event: TuneEvent) -> None:
        report(event.model_dump(mode="json"))

    files = open_model(path)
    budget = max(budget_s, SHORTEST_BUDGET_S)
    result = run_tuning(files, settings, budget_s=budget, report=pass_on, cancelled=cancelled)
    if not result.cancelled:
        TuningStore().save(facts_of(files), result)


def stored(path: Path) -> Mapping[str, Any] | None:
    """The kept tuning of the model at `path`: {"stale": what has changed since, in words, "result": `TuneResult`}.

    A result with a `stale` that is not empty must not be used as it is: tune again. None: never tuned here.
    """
    files = open_model(path)
    found = TuningStore().find(facts_of(files), current_fingerprint(files))
    return None if found is None else {"stale": list(found.stale), "result": found.result.model_dump(mode="json")}
