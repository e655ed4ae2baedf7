"""Where the engine keeps its own files: saved conversations, traces, pid files."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

HOME_VARIABLE = "GANNET_HOME"


def state_folder() -> Path:
    """The engine's folder, made if it is missing. `GANNET_HOME` moves everything below one folder."""
    home = os.environ.get(HOME_VARIABLE)
    folder = Path(home) / "engine" if home else user_data_path("Gannet", appauthor=False) / "engine"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
