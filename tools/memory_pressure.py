"""Shows what an elastic cache does while another program takes memory and gives it back, again and again.

    tools/memlimit 8G .venv/bin/python -m tools.memory_pressure big.gguf

One process answers twice, each time in a process of its own: alone, then beside a program that touches 2 GiB as fast
as it can, holds them, frees them and stays away. All are in this process's memory group, so its limit holds for them
together. Ends with 1 if a process was killed for want of memory, an answer failed, or a token differs.
"""

from __future__ import annotations

import argparse
import json
import mmap
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.answer import AnswerOptions, Finished, answer
from engine.bench.passage import passage_tokens
from engine.cache_monitor import CacheChange
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.memory.cgroups import parse_stat, tightest_group
from engine.settings import EngineSettings
from engine.sizes import format_bytes, parse_size

_LOOK_SECONDS = 0.1
_PAGE = 4096


@dataclass(frozen=True)
class Report:
    """What one answer came to; sizes in bytes."""

    tokens: Sequence[int]
    prompt_tok_s: float
    decode_tok_s: float
    least_cache: int
    most_cache: int
    least_free: int
    shrinks: int
    grows: int
    changes: Sequence[str]


def main() -> int:
    """0 if nothing went wrong."""
    args = _arguments()
    if args.neighbour:
        _take_and_give(parse_size(args.take).nbytes, args.hold, args.away)
    if args.child:
        print(json.dumps(asdict(_answer(args))))
        return 0
    group = tightest_group()
    print(f"memory limit: {'none' if group is None else format_bytes(group.limit_bytes)}")
    kills = _oom_kills()
    alone = _run_answer(args)
    _print("alone", alone)
    with _neighbour() as visits:
        pressed = _run_answer(args)
    _print(f"beside a program that takes {args.take} for {args.hold:g} s every {args.hold + args.away:g} s", pressed)
    if visits:
        print(f"it took them {len(visits)} times, in {min(visits):.1f} to {max(visits):.1f} s")
    if args.verbose and pressed is not None:
        print("\n".join(pressed.changes))
    killed = (_oom_kills() or 0) - (kills or 0)
    same = alone is not None and pressed is not None and alone.tokens == pressed.tokens
    print(f"killed for want of memory: {'not counted here' if kills is None else killed}; same tokens: {same}")
    return 0 if same and killed == 0 else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--take", default="2GiB", metavar="SIZE", help="what the other program takes [2GiB]")
    parser.add_argument("--hold", type=float, default=3.0, metavar="SECONDS", help="how long it holds it [3]")
    parser.add_argument("--away", type=float, default=3.0, metavar="SECONDS", help="how long it stays away [3]")
    parser.add_argument("--prompt-tokens", type=int, default=300, metavar="N", help="[300]")
    parser.add_argument("--tokens", type=int, default=150, metavar="N", help="tokens to decode [150]")
    parser.add_argument("--ubatch", type=int, default=2048, metavar="N", help="prompt tokens computed together [2048]")
    parser.add_argument("--cache", metavar="SIZE", help="most that the cache may be [what is free]")
    parser.add_argument("--verbose", action="store_true", help="print every change of the cache's size")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--neighbour", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _again(*more: str) -> list[str]:
    return [sys.executable, "-m", "tools.memory_pressure", *sys.argv[1:], *more]


def _run_answer(args: argparse.Namespace) -> Report | None:
    del args  # the child reads the same command line
    child = subprocess.run(_again("--child"), capture_output=True, text=True, check=False)
    if child.returncode != 0:
        reason = (child.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"the answer ended with {child.returncode}: {reason}")
        return None
    return Report(**json.loads(child.stdout.splitlines()[-1]))


@contextmanager
def _neighbour() -> Iterator[list[float]]:
    """The other program while open; afterwards, the seconds in which it took its memory each time."""
    visits: list[float] = []
    with tempfile.TemporaryFile("w+") as said:
        other = subprocess.Popen(_again("--neighbour"), stdout=said)
        try:
            yield visits
            if other.poll() is not None:
                print(f"the other program ended with {other.returncode}")
        finally:
            other.kill()
            other.wait()
            said.seek(0)
            visits += [float(line) for line in said]


def _take_and_give(nbytes: int, hold: float, away: float) -> None:
    while True:
        time.sleep(away)
        began = time.monotonic()
        with mmap.mmap(-1, nbytes) as memory:
            memory.madvise(mmap.MADV_HUGEPAGE)  # the fastest way to take it
            for at in range(0, nbytes, _PAGE):
                memory[at] = 1
            print(time.monotonic() - began, flush=True)
            time.sleep(hold)


def _answer(args: argparse.Namespace) -> Report:
    files = open_model(args.model)
    experts = sum(expert.tensor.nbytes for expert in files.experts())
    settings = EngineSettings(
        cache_bytes=None if args.cache is None else parse_size(args.cache).resolve(experts),
        context_length=args.prompt_tokens + args.tokens + 16,
        ubatch=args.ubatch,
        census=False,
    )
    changes: list[str] = []
    with load(files, settings) as loaded:
        if loaded.monitor is None:
            raise SystemExit(f"{files.path.name} fits into memory; give a --cache, or take a smaller memory limit")
        begin = time.monotonic()
        loaded.monitor.on_change = lambda change: changes.append(_line(change, time.monotonic() - begin))
        with _watching(loaded) as seen:
            options = AnswerOptions(max_tokens=args.tokens, temperature=0.0, ignore_end=True)
            *_, last = answer(loaded, passage_tokens(loaded.llama, args.prompt_tokens), options)
        assert isinstance(last, Finished)
        counted = loaded.telemetry()
    return Report(
        last.result.tokens,
        last.result.prompt_tok_s,
        last.result.decode_tok_s,
        min(cache for cache, _ in seen),
        max(cache for cache, _ in seen),
        min(free for _, free in seen),
        counted.cache_shrinks,
        counted.cache_grows,
        changes,
    )


def _line(change: CacheChange, seconds: float) -> str:
    sizes = f"{format_bytes(change.before_bytes)} to {format_bytes(change.cache_bytes)}"
    return f"{seconds:7.2f} s  {sizes} in {change.seconds * 1e3:.0f} ms: {change.reason} ({change.source})"


@contextmanager
def _watching(loaded: LoadedModel) -> Iterator[list[tuple[int, int]]]:
    """Looks at the cache's size and at free memory again and again while open."""
    seen: list[tuple[int, int]] = []
    ended = threading.Event()

    def look() -> None:
        while True:
            now = loaded.telemetry()
            seen.append((now.cache_bytes, now.memory_available_bytes))
            if ended.wait(_LOOK_SECONDS):
                return

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def _oom_kills() -> int | None:
    """Processes of this memory group that were killed for want of memory; None where nobody counts them."""
    group = tightest_group()
    for name in () if group is None else ("memory.events", "memory.oom_control"):
        assert group is not None
        if (group.path / name).exists():
            return parse_stat((group.path / name).read_text()).get("oom_kill")
    return None


def _print(title: str, report: Report | None) -> None:
    if report is None:
        return
    print(
        f"{title}: cache {format_bytes(report.least_cache)} to {format_bytes(report.most_cache)}, "
        f"made smaller {report.shrinks} and larger {report.grows} times, least free {format_bytes(report.least_free)}; "
        f"prompt {report.prompt_tok_s:.1f} tok/s, answer {report.decode_tok_s:.2f} tok/s"
    )


if __name__ == "__main__":
    sys.exit(main())
