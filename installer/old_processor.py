"""Runs the packed engine as on older processors, emulated, and compares its text with the one of this processor.

`python -m installer.old_processor` needs `qemu-x86_64` (Debian: qemu-user) and a bundle in dist/gannet. Two processors
may round differently in the last bits, so what is compared is the text: greedy, a few tokens of the demo model. Exits 1
when a text differs or a run fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from installer.places import BUNDLE

PROCESSORS = ("Nehalem", "SandyBridge", "Haswell")
"""SSE 4.2 only (2008), AVX (2011), AVX2 and FMA (2013)."""
EMULATOR = "qemu-x86_64"
PROMPT = "Tell me a short story about a gannet."


@dataclass(frozen=True)
class Outcome:
    """What one run said (or why it failed), the CPU library that was loaded, and how long the run took."""

    processor: str
    text: str
    library: str
    seconds: float
    error: str = ""


def command(engine: Path, model: Path, tokens: int, processor: str, ways: Sequence[str]) -> list[str]:
    """The command line of one run; no `processor`: this one."""
    emulated = [EMULATOR, "-cpu", processor] if processor else []
    what = ["generate", str(model), "--prompt", PROMPT, "--greedy", "--tokens", str(tokens), "--json"]
    return [*emulated, str(engine), *what, "--threads", "2", "--no-census", *ways]


def run(engine: Path, model: Path, tokens: int, processor: str = "", ways: Sequence[str] = ()) -> Outcome:
    """One run to its end."""
    line = command(engine, model, tokens, processor, ways)
    env = environment(engine) if processor else None
    start = time.monotonic()
    child = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    library, program = "", ""
    while child.poll() is None:  # every library is tried for a moment: the last one seen is the one that stayed
        library, program = mapped_library(child.pid) or library, program_of(child.pid) or program
        time.sleep(0.02)
    out, err = child.communicate()
    seconds = time.monotonic() - start
    if processor and EMULATOR not in program:
        return Outcome(processor, "", library, seconds, f"ran {program or 'nothing'}, not {EMULATOR}")
    if child.returncode:
        last = (err.strip().splitlines() or ["no output"])[-1]
        return Outcome(processor, "", library, seconds, f"ended with {child.returncode}: {last}")
    return Outcome(processor, json.loads(out)["text"], library, seconds)


def environment(engine: Path) -> dict[str, str]:
    """What PyInstaller's start program sets before it starts itself a second time, which would leave the emulator."""
    started = {"ARCHIVE_FILE": str(engine), "PARENT_PROCESS_LEVEL": "-1", "LINUX_PROCESS_NAME": engine.name}
    libraries = {"LD_LIBRARY_PATH": str(engine.with_name("_internal"))}
    return {**os.environ, **libraries, **{f"_PYI_{name}": value for name, value in started.items()}}


def program_of(pid: int) -> str:
    """The file that a process runs; empty once it is gone."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def mapped_library(pid: int) -> str:
    """Which CPU library a process has; empty before there is exactly one (all are tried, the best stays)."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return ""
    names = {line.rpartition("/")[2] for line in maps.splitlines() if "/libggml-cpu-" in line}
    return (
        names.pop().removeprefix("libggml-cpu-").removesuffix(".so") if len(names) == 1 and "libllama" in maps else ""
    )


def main(arguments: Sequence[str]) -> int:
    """Runs natively and on each processor, streamed and plain, and prints what came out."""
    parser = argparse.ArgumentParser(prog="python -m installer.old_processor", description=__doc__.partition("\n")[0])
    parser.add_argument("--bundle", type=Path, default=BUNDLE, metavar="FOLDER")
    parser.add_argument("--cpu", action="append", metavar="NAME", help=f"a processor qemu knows {list(PROCESSORS)}")
    parser.add_argument("--tokens", type=int, default=24)
    args = parser.parse_args(arguments)
    if shutil.which(EMULATOR) is None:
        print(f"{EMULATOR} is missing: sudo apt-get install qemu-user", file=sys.stderr)
        return 1
    engine, model = args.bundle / "gannet-engine", args.bundle / "_internal" / "assets" / "demo-moe.gguf"
    wanted = run(engine, model, args.tokens)
    failed = bool(wanted.error)
    for outcome in (wanted, *checked(engine, model, args.tokens, args.cpu or PROCESSORS)):
        same = not outcome.error and outcome.text == wanted.text
        failed |= not same
        verdict = outcome.error or ("same text" if same else f"another text: {outcome.text!r}")
        name = outcome.processor or "this one"
        print(f"{name:<24} {outcome.library or '?':<16} {outcome.seconds:6.1f} s  {verdict}", flush=True)
    print(repr(wanted.text))
    return int(failed)


def checked(engine: Path, model: Path, tokens: int, processors: Sequence[str]) -> list[Outcome]:
    """Each processor, with experts streamed through a small cache and with stock llama.cpp."""
    ways = {"": ("--cache", "8MiB"), " plain": ("--plain",)}
    found = []
    for processor in processors:
        for name, way in ways.items():
            outcome = run(engine, model, tokens, processor, way)
            found.append(Outcome(processor + name, outcome.text, outcome.library, outcome.seconds, outcome.error))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
