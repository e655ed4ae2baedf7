"""Runs programs in the prepared environment: in the foreground, or into a log whose telling line is reported."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tools.checkout.places import BIN, ROOT, VENV, DevError

ERROR_MARKS = ("error:", "e: ", "cmake error", "fatal:", "no space left")


def environment() -> dict[str, str]:
    """The environment of every program run here: this one's, with the virtual environment first on the path."""
    env = dict(os.environ)
    env.pop("PYTHONHOME", None)
    env["VIRTUAL_ENV"] = str(VENV)
    env["PATH"] = str(BIN) + os.pathsep + env.get("PATH", "")
    return env


def run(*args: str | Path, env: dict[str, str] | None = None) -> int:
    """Runs a program in the checkout, the terminal left to it, and returns its exit code (128 + signal when killed)."""
    merged = environment() | (env or {})
    program = shutil.which(str(args[0]), path=merged["PATH"])
    if program is None:
        raise DevError(f"{args[0]}: no such command in the prepared environment")
    process = subprocess.Popen([program, *map(str, args[1:])], cwd=ROOT, env=merged)
    while True:
        try:
            code = process.wait()
            return 128 - code if code < 0 else code
        except KeyboardInterrupt:
            continue  # the program got the Ctrl-C as well and decides


def logged(log: Path, *args: str | Path, env: dict[str, str] | None = None) -> None:
    """Runs a program, its output appended to a log; DevError names the log and the line that tells why it failed."""
    merged = environment() | (env or {})
    with log.open("ab") as out:
        out.write(f"$ {' '.join(map(str, args))}\n".encode())
        out.flush()
        program = shutil.which(str(args[0]), path=merged["PATH"])
        if program is None:
            raise DevError(f"{args[0]}: no such command")
        command = [program, *map(str, args[1:])]
        code = subprocess.call(
            command, cwd=ROOT, env=merged, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
    if code:
        where = log.relative_to(ROOT) if log.is_relative_to(ROOT) else log
        reason = telling_line(log.read_text(errors="replace"))
        raise DevError(f"{Path(str(args[0])).name} failed: {reason} (all of it: {where})")


def telling_line(text: str) -> str:
    """The first line since the last command of a log that looks like an error, else the last line."""
    lines = [line.strip() for line in text.rsplit("\n$ ", 1)[-1].splitlines() if line.strip()]
    telling = (line for line in lines if any(mark in line.lower() for mark in ERROR_MARKS))
    return next(telling, lines[-1] if lines else "no output")
