"""The `gannet` command: the window, the tuner or the engine, whichever the arguments ask for.

No arguments, or one model file, open the window; where there is no window to open (no display, or the application is
not installed) a chat with that file or the built-in demo model starts in the terminal instead, and one line says so.
`tune` and `probe` belong to `autotune`, everything else to the engine.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

AUTOTUNE_COMMANDS = {
    "tune": "find the settings with which a model is fastest on this machine",
    "probe": "measure this machine: its drive, memory and processor",
}
HELP = ("help", "-h", "--help")
DOWNLOAD_WORKER = "download-worker"  # how the packaged window starts the process of a download
ENGINE_PROGRAM = "gannet-engine"  # beside `gannet` in a packaged program: the one with a console
DEMO_MODEL = Path(__file__).resolve().parent / "assets" / "demo-moe.gguf"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one `gannet` command line and returns its exit code."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    if os.name == "nt":
        speak_utf8(sys.stdin, sys.stdout, sys.stderr)
    if args in (["--version"], ["-V"]):
        print(f"gannet {version()}")
        return 0
    if not args or is_model_file(args):
        return open_window_or_chat(args)
    if args[0] in HELP:
        return show_help(args)
    if args[0] in AUTOTUNE_COMMANDS:
        return command("autotune.cli")(args)
    if args[0] == DOWNLOAD_WORKER:
        return command("app.models.downloads.worker")(args)
    return command("engine.cli")(args)


def show_help(args: Sequence[str]) -> int:
    """The list of all commands, or what one of them says about itself."""
    if args[1:2] and args[1] in AUTOTUNE_COMMANDS:
        return command("autotune.cli")([args[1], "--help"])
    return command("engine.cli")(args, AUTOTUNE_COMMANDS)


def packaged(*arguments: str) -> list[str] | None:
    """The command line that runs `arguments` with a packaged program's engine; None where Python runs the code.

    The only place that knows how a packaged program starts another process of its own.
    """
    if not getattr(sys, "frozen", False):
        return None
    running = Path(sys.executable)
    suffix = ".exe" if running.suffix.lower() == ".exe" else ""
    return [str(running.with_name(ENGINE_PROGRAM + suffix)), *arguments]


def version() -> str:
    """The installed version, as written in pyproject.toml."""
    from importlib.metadata import version as installed

    return installed("gannet")


def speak_utf8(*streams: object) -> None:
    """Text goes in and out as UTF-8: through a pipe Windows would take a code page that lacks most characters."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):  # None where a window has no console
            stream.reconfigure(encoding="utf-8")


def is_model_file(args: Sequence[str]) -> bool:
    """Whether the command line is one model file: what a desktop runs when a person opens such a file."""
    return len(args) == 1 and args[0].lower().endswith(".gguf") and not args[0].startswith("-")


def open_window_or_chat(files: Sequence[str] = ()) -> int:
    """Opens the window, or says why there is none and chats in the terminal; with the model file, if one is named."""
    reason = why_no_window(sys.platform, os.environ, importlib.util.find_spec)
    if reason is None:
        try:
            window = command("app.main")
        except ImportError as error:  # a library of the system that Qt loads
            reason = f"the window cannot be loaded ({error})"
        else:
            return window(list(files))
    name = Path(files[0]).name if files else "the demo model"
    print(f"gannet: {reason}; chatting in the terminal with {name}", file=sys.stderr)
    return command("engine.cli")(["chat", files[0] if files else str(DEMO_MODEL)])


def why_no_window(platform: str, environ: Mapping[str, str], find: Callable[[str], object | None]) -> str | None:
    """None when a window can be opened, else the reason in a few words. `find` tells whether a module exists."""
    for module, what in (("app.main", "this installation has no window"), ("PySide6", "PySide6 is not installed")):
        if find(module) is None:
            return what
    if platform in ("win32", "darwin") or environ.get("QT_QPA_PLATFORM"):
        return None
    return None if environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY") else "there is no display"


def command(module: str) -> Callable[..., int]:
    """The `main(arguments) -> exit code` of a module, imported only when it is the one asked for."""
    main_function: Callable[..., int] = importlib.import_module(module).main
    return main_function


if __name__ == "__main__":
    sys.exit(main())
