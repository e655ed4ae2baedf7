"""Threads compute and wait as the engine says, whatever OpenMP's environment: a user loses most of the speed without.

The environment counts when the library is loaded, so each look is a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from engine.openmp import SPIN_COUNT, settle_openmp

HOSTILE = {
    "OMP_NUM_THREADS": "1",
    "OMP_THREAD_LIMIT": "1",
    "OMP_DYNAMIC": "true",
    "OMP_PROC_BIND": "true",
    "OMP_PLACES": "{0}",
    "OMP_WAIT_POLICY": "active",
    "GOMP_CPU_AFFINITY": "0",
    "GOMP_SPINCOUNT": "infinite",
}
LOOK = """
import json, os, sys, threading
from pathlib import Path
from engine.answer import AnswerOptions, answer
from engine.gguf import open_model
from engine.loader import load
from engine.settings import EngineSettings

def threads():
    return len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 0

settings = EngineSettings(threads=3, cache_bytes=8 << 20, context_length=128, census=False, elastic=False)
with load(open_model(Path(sys.argv[1])), settings) as loaded:
    before = threads()
    options = AnswerOptions(max_tokens=12, temperature=0.0, ignore_end=True)
    *_, last = answer(loaded, list(range(3, 40)), options)
    team = threads() - before
affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
print(json.dumps({"tokens": last.result.tokens, "team": team, "affinity": affinity}))
"""


def look(model: Path, **variables: str) -> dict[str, object]:
    """What a process that answers has: its tokens, the threads that joined it for that, and its processors."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(model)], env=kept | variables, capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_nothing_that_the_environment_says_of_openmp_changes_the_team(demo_model: Path) -> None:
    plain = look(demo_model)
    # With the thread that asked: three. Where /proc does not count them, tokens and processors are compared alone.
    assert plain["team"] == (2 if sys.platform == "linux" else 0)
    assert look(demo_model, **HOSTILE) == plain


def test_idle_threads_soon_let_other_programs_run_and_nothing_else_is_left() -> None:
    environment = {"PATH": "/bin", "omp_num_threads": "1", "KMP_BLOCKTIME": "infinite", **HOSTILE}
    settle_openmp(environment)
    assert environment == {"PATH": "/bin", "GOMP_SPINCOUNT": SPIN_COUNT}
