"""Where the application keeps its files, and writing them so that a power cut leaves the old or the new one."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from platformdirs import user_config_path, user_data_path, user_log_path

from app import APP_NAME

HOME_VARIABLE = "GANNET_HOME"
"""When set, everything lives below this folder: portable installations and tests."""


def data_folder() -> Path:
    """Conversations and downloaded models."""
    return _made("data", user_data_path(APP_NAME, appauthor=False))


def config_folder() -> Path:
    """Preferences, presets."""
    return _made("config", user_config_path(APP_NAME, appauthor=False))


def log_folder() -> Path:
    """Log of the window and the engine."""
    return _made("logs", user_log_path(APP_NAME, appauthor=False))


def atomic_write(path: Path, content: bytes) -> None:
    """Write `content` to `path` completely or not at all (temporary file in the same folder, then replace)."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def put_aside(path: Path) -> Path:
    """Rename a broken file to `NAME.broken-TIME` beside itself, so that nothing is lost; returns where it is now."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = path.with_name(f"{path.name}.broken-{stamp}")
    count = 1
    while target.exists():
        count += 1
        target = path.with_name(f"{path.name}.broken-{stamp}-{count}")
    os.replace(path, target)
    return target


def _made(name: str, default: Path) -> Path:
    home = os.environ.get(HOME_VARIABLE)
    folder = Path(home) / name if home else default
    folder.mkdir(parents=True, exist_ok=True)
    return folder
