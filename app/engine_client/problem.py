"""What can go wrong with the engine, in words (pure, no Qt)."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass

from app.i18n import tr


@dataclass(frozen=True)
class EngineProblem:
    """A request that failed.

    Attributes: `message` one line that names the thing and the cure; `code` the engine's machine-readable name ("" when
    it sent none); `status` the HTTP status, 0 when no answer arrived.
    """

    message: str
    code: str = ""
    status: int = 0


@dataclass(frozen=True)
class Crash:
    """The engine process ended by itself: `reason` in words, `log` its last lines."""

    reason: str
    log: str


def problem_from_body(body: bytes, status: int, fallback: str) -> EngineProblem:
    """The engine's own error text (`{"error": {"message", "code"}}`, OpenAI's or Anthropic's form), else `fallback`."""
    try:
        content = json.loads(body)
        error = content.get("error", content)
    except (ValueError, AttributeError):
        return EngineProblem(fallback, "", status)
    if isinstance(error, str):
        return EngineProblem(error, "", status)
    if not isinstance(error, dict):
        return EngineProblem(fallback, "", status)
    message = error.get("message") or fallback
    return EngineProblem(str(message), str(error.get("code") or error.get("type") or ""), status)


def crash_reason(exit_code: int, was_killed: bool) -> str:
    """Why the engine is gone, in words. `was_killed`: ended by a signal (on Windows: by an exception)."""
    if not was_killed:
        if exit_code == 0:
            return tr("The engine ended by itself.")
        return tr("The engine stopped with an error (exit code {code}).").format(code=exit_code)
    if exit_code == getattr(signal, "SIGKILL", 9):
        return tr("The system ended the engine, most likely because memory ran out. A smaller cache needs less.")
    if exit_code == getattr(signal, "SIGTERM", 15):
        return tr("Another program ended the engine.")
    if exit_code == getattr(signal, "SIGILL", 4):
        return tr("The engine met an instruction this processor does not have.")
    if exit_code == getattr(signal, "SIGBUS", 7):
        return tr("A file the engine was reading changed or became unreadable.")
    return tr("The engine crashed (signal {code}). What was said so far is kept.").format(code=exit_code)
