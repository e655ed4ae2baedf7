"""Stored tunings: one file a model in the user's own folder, written atomically; a broken one is put aside."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from autotune.control import Control
from autotune.facts import ModelFacts, facts_of
from autotune.fingerprint import differences, engine_parts, fingerprint, machine_parts, model_key, model_parts
from autotune.probes import CORES, GPUS, MEMORY, VOLUME, read
from autotune.result import Fingerprint, TuneResult
from engine.gguf import ModelFiles
from engine.places import state_folder


@dataclass(frozen=True)
class Stored:
    """A tuning as found. `stale` says in words what has changed since: not empty means it must not be used as it is."""

    result: TuneResult
    stale: tuple[str, ...]


class TuningStore:
    """Tunings below `folder` (by default the user's data folder, never the model's)."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or state_folder() / "tuning"

    def path(self, facts: ModelFacts) -> Path:
        """Where a model's tuning lies, whether there is one or not."""
        return self._folder / f"{model_key(facts)}.json"

    def save(self, facts: ModelFacts, result: TuneResult) -> Path:
        """Keep a tuning instead of the model's former one. Raises OSError; the former one is then still whole."""
        target = self.path(facts)
        self._folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=target.stem, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(result.model_dump_json(indent=1))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return target

    def find(self, facts: ModelFacts, now: Fingerprint) -> Stored | None:
        """The model's tuning and what has changed since, or None. A file that cannot be read is put aside."""
        path = self.path(facts)
        try:
            result = TuneResult.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (ValidationError, UnicodeDecodeError):
            path.replace(path.with_suffix(".broken"))
            return None
        return Stored(result, differences(result.fingerprint, now))


def current_fingerprint(files: ModelFiles) -> Fingerprint:
    """The fingerprint of this machine and model now, by the probes that only ask and measure nothing."""
    facts, control = facts_of(files), Control(scale=0.1)
    machine = machine_parts(
        read(MEMORY, facts, control).result,
        read(CORES, facts, control).result,
        read(GPUS, facts, control).result,
        read(VOLUME, facts, control).result,
    )
    return fingerprint(machine, model_parts(files), engine_parts())
