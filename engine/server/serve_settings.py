"""How the service is started: every value of `gannet serve` below its command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what a client can make the service hold or wait for; times in seconds, sizes in bytes."""

    body_bytes: int = 32 * MEBIBYTE
    body_seconds: float = 30.0
    arriving_bytes: int = 128 * MEBIBYTE
    header_bytes: int = 64 * 1024
    header_count: int = 100
    header_seconds: float = 10.0
    connections: int = 512
    answer_seconds: float = 3600.0
    template_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Where the service listens, who may use it and which folders it serves.

    Attributes:
        key: the bearer token; every route but `/health` needs it.
        model_folders: the only places a request can name files in.
        cors_origins: web pages that may use the service; none by default.
        hosts: names in a Host header besides loopback's and IP addresses.
        state_folder: saved conversations, traces and pid files.
        folder_patience: seconds a request waits for the folder of the model it names to be added.
        session_memory_bytes, session_disk_bytes: bounds of saved conversation states.
        session_idle_seconds: after this time without work the conversation is saved.
    """

    key: str
    state_folder: Path
    host: str = "127.0.0.1"
    port: int = 8080
    model_folders: tuple[Path, ...] = ()
    cors_origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    folder_patience: float = 0.0
    session_memory_bytes: int = 256 * MEBIBYTE
    session_disk_bytes: int = 4096 * MEBIBYTE
    session_idle_seconds: float = 5.0
    limits: Limits = field(default_factory=Limits)
