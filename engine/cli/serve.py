"""Serve models to clients on this machine: OpenAI's and Anthropic's APIs, and the window's own.

Prints one JSON line with the address and the key when it is ready.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from engine import __version__
from engine.cli.parser import add_settings, settings_from
from engine.errors import SettingsError
from engine.gguf import open_model
from engine.memory import memory_available
from engine.places import state_folder
from engine.server.listening import listen, url_of
from engine.server.parent_watch import watch_parent
from engine.server.pid_file import registered
from engine.server.private_start import ParentPipe
from engine.server.running import end_for_sure, print_line, run_service
from engine.server.serve_settings import MEBIBYTE, ServeSettings
from engine.server.service import Service
from engine.settings import EngineSettings
from engine.sizes import Size

_SHARE_FOR_SESSIONS = 50  # one part in so many of the free memory and disk


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", nargs="?", type=Path, metavar="MODEL", help="model to load; else requests name one")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on [127.0.0.1: this machine only]")
    parser.add_argument("--port", type=int, default=8080, help="port to listen on; 0 takes a free one [8080]")
    parser.add_argument("--api-key", metavar="KEY", help="key that clients must send [a new one]")
    parser.add_argument("--models", metavar="DIR", type=Path, action="append", default=[], help="a folder of models")
    parser.add_argument("--allow-host", metavar="NAME", action="append", default=[], help="a name this machine has")
    parser.add_argument("--cors", metavar="ORIGIN", action="append", default=[], help="a web page that may come in")
    parser.add_argument("--session-memory", metavar="MIB", type=int, help="memory for conversations [2%% of the free]")
    parser.add_argument("--session-disk", metavar="MIB", type=int, help="disk for them, 0: none [2%% of the free]")
    parser.add_argument("--session-idle", metavar="SECONDS", type=float, default=5.0, help=argparse.SUPPRESS)
    parser.add_argument("--private", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--template-worker", action="store_true", help=argparse.SUPPRESS)
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until told to end."""
    if args.template_worker:
        from engine.chat_format import template_worker

        template_worker.main()
        return 0
    _check(args)
    if args.private:
        return _run_private(args)
    key = args.api_key or secrets.token_urlsafe(24)
    settings = _engine_settings(args)
    with _listening(args) as opened:
        service = Service(_serve_settings(args, key), settings, __version__)
        url = url_of(opened)
        run_service(service, opened, lambda: _begin(service, args, {"url": url, "key": key, "pid": os.getpid()}))
    return 0


def _run_private(args: argparse.Namespace) -> int:
    """As the application starts it: key and folders come over the pipe, and the engine ends with its parent."""
    pipe = ParentPipe()
    key, folders = pipe.first_line()
    args.models += folders
    with registered(state_folder() / "engines"), _listening(args) as opened:
        service = Service(_serve_settings(args, key), _engine_settings(args), __version__)

        def end() -> None:
            end_for_sure()
            service.request_shutdown()

        def ready() -> None:
            _begin(service, args, {"url": url_of(opened), "pid": os.getpid()})
            pipe.watch(service.folders.add, end)
            watch_parent(end)

        run_service(service, opened, ready)
    return 0


def _check(args: argparse.Namespace) -> None:
    if not 0 <= args.port <= 65535:
        raise SettingsError(f"--port {args.port}: a port is a number from 0 to 65535")
    for name in ("session_memory", "session_disk"):
        if (getattr(args, name) or 0) < 0:
            raise SettingsError(f"--{name.replace('_', '-')}: a size cannot be negative")
    for folder in args.models:
        if not folder.is_dir():
            raise SettingsError(f"--models {folder}: there is no such folder")
    if args.model is not None and not args.model.exists():
        raise SettingsError(f"{args.model}: there is no such model file or folder")


@contextlib.contextmanager
def _listening(args: argparse.Namespace) -> Iterator[socket.socket]:
    opened = listen(args.host, args.port)
    try:
        yield opened
    finally:
        opened.close()


def _engine_settings(args: argparse.Namespace) -> EngineSettings:
    """The settings of the command line. A model that cannot be run is refused here, before anything is started."""
    if args.model is not None:
        return settings_from(args, open_model(args.model))
    if isinstance(args.setting_cache_bytes, Size) and args.setting_cache_bytes.share is not None:
        raise SettingsError("--cache: a share needs a MODEL to be a share of; give a size such as 6G")
    return settings_from(args, None)


def _serve_settings(args: argparse.Namespace, key: str) -> ServeSettings:
    return ServeSettings(
        key=key,
        state_folder=state_folder(),
        host=args.host,
        port=args.port,
        model_folders=tuple(args.models),
        cors_origins=tuple(args.cors),
        hosts=tuple(args.allow_host),
        folder_patience=2.0 if args.private else 0.0,
        session_memory_bytes=_size(args.session_memory, memory_available().available_bytes),
        session_disk_bytes=_size(args.session_disk, shutil.disk_usage(state_folder()).free),
        session_idle_seconds=args.session_idle,
    )


def _size(mebibytes: int | None, free: int) -> int:
    """The size asked for, or a share of what is free."""
    return free // _SHARE_FOR_SESSIONS if mebibytes is None else mebibytes * MEBIBYTE


def _begin(service: Service, args: argparse.Namespace, line: dict[str, object]) -> None:
    """The port is open: say so, and load the model that was asked for."""
    logging.getLogger("engine").setLevel(logging.INFO)
    if args.model is not None:
        service.folders.add_file(args.model)
        service.load(args.model.absolute(), {})
    print_line(line)
