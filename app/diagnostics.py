"""A bundle for a bug report: versions, settings, the engine's state and log. No word of any chat."""

from __future__ import annotations

import io
import json
import platform
import sys
import zipfile
from pathlib import Path
from typing import Any

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

from app.context import AppContext
from app.files import atomic_write
from app.version import program_version

PRIVATE_PREFERENCES = ("server",)
"""Preferences that hold a key."""


def write_bundle(path: Path, context: AppContext) -> None:
    """Write the zip file. Raises OSError."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("about.json", json.dumps(about(context), indent=1))
        bundle.writestr("engine.log", without_home(context.client.log_excerpt(500)))
    atomic_write(path, content.getvalue())


def about(context: AppContext) -> dict[str, Any]:
    """Everything of the bundle but the log."""
    values = {
        name: context.preferences[name] for name in context.preferences.names() if name not in PRIVATE_PREFERENCES
    }
    crash = context.session.last_crash
    content = {
        "version": program_version(),
        "python": sys.version,
        "qt": qVersion(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "screens": [
            {"size": [one.size().width(), one.size().height()], "scale": one.devicePixelRatio()}
            for one in QGuiApplication.screens()
        ],
        "state": context.client.state.value,
        "model": Path(context.client.model).name,
        "last_crash": crash.reason if crash is not None else "",
        "telemetry": context.client.last_telemetry,
        "preferences": values,
        "store": {"problems": len(context.store.problems), "conversations": len(context.store.conversations())},
    }
    cleaned: dict[str, Any] = json.loads(without_home(json.dumps(content, default=str)))
    return cleaned


def without_home(text: str) -> str:
    """`text` without the user's own folder, whose name may be a person's."""
    home = str(Path.home())
    for written in {home, json.dumps(home)[1:-1]}:
        if len(written) > 1:
            text = text.replace(written, "~")
    return text
