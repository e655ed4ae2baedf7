"""Check that a model answers the same streamed as with stock llama.cpp, token by token and bit by bit.

Stock llama.cpp runs first, in a process in which nothing of Gannet's is on, then Gannet. A model larger than memory
takes long the first way: every token reads what does not fit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import gannet
from engine.cli.loading import ProgressLine, load_model
from engine.cli.parser import add_model, add_settings
from engine.errors import GannetError, SettingsError
from engine.gguf import open_model
from engine.prompt import text_prompt
from engine.verification import Recording, first_difference, record

DIFFERENT = 1
_PROMPT = "The quick brown fox jumps over the lazy dog. Once upon a time there was a"


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_model(parser)
    parser.add_argument("--prompt", default=_PROMPT, metavar="TEXT", help="where both begin [a sentence]")
    parser.add_argument("--tokens", type=int, default=32, metavar="N", help="tokens to decode after it [32]")
    # A run of one of the two ways: computes and saves what it computed.
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """0 if both are the same, 1 if they differ."""
    if args.tokens < 1:
        raise SettingsError(f"--tokens {args.tokens}: at least one token is needed")
    if args.record is not None:
        return _record(args)
    files = open_model(args.model)
    with tempfile.TemporaryDirectory(prefix="gannet-verify-") as folder:
        plain = _run_apart(args, Path(folder) / "plain.npz", "stock llama.cpp", ["--plain"])
        streamed = _run_apart(args, Path(folder) / "streamed.npz", "Gannet", ["--no-plain", "--no-elastic"])
    difference = first_difference(plain, streamed)
    same_tokens = bool(np.array_equal(plain.tokens, streamed.tokens))
    if difference is None and same_tokens:
        print(f"{files.name}: the same; {len(plain.tokens)} tokens, {plain.logits.size:,} logits, every bit")
        return 0
    what = "the same tokens, but other logits" if same_tokens else "other tokens"
    print(f"{files.name}: different; {what}; {difference}")
    return DIFFERENT


def _record(args: argparse.Namespace) -> int:
    with load_model(args) as loaded:
        prompt = text_prompt(loaded.llama, args.prompt).tokens
        room = loaded.settings.context_length - args.tokens
        if not 0 < len(prompt) <= room:
            raise SettingsError(f"the prompt has {len(prompt)} tokens and there is room for {room}; see --context")
        recording = record(loaded, prompt, args.tokens)
    np.savez(args.record, tokens=recording.tokens, logits=recording.logits)
    return 0


def _run_apart(args: argparse.Namespace, target: Path, name: str, way: list[str]) -> Recording:
    line = ProgressLine()
    line.say(f"Running {name}")
    try:
        child = subprocess.run(
            [*_program(), "verify", *args.command_line, *way, "--record", str(target)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    finally:
        line.clear()
    if child.returncode != 0:
        lines = child.stderr.strip().splitlines() or [f"it ended with code {child.returncode}"]
        raise GannetError(f"{name} could not run: {lines[-1].removeprefix('gannet: ')}")
    with np.load(target) as saved:
        return Recording(saved["tokens"], saved["logits"])


def _program() -> list[str]:
    """How to start this program again: packaged, or as a module."""
    return gannet.packaged() or [sys.executable, "-m", "gannet"]
