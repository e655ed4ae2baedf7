"""How ggml's team of compute threads waits, whatever the user's environment says of OpenMP.

The number of threads is a setting of ours, and their waiting is chosen here, once for every machine: a thread without
work spins for some microseconds and then sleeps. libgomp's default spins for milliseconds, which on a machine with
other work to do starves the threads that are waited for: plain llama.cpp with two threads on the demo model, two cores
and a load of 12 decoded 4 to 17 tokens a second by default and 34 to 79 with this. Variables that are meant for other
programs would do worse: OMP_THREAD_LIMIT=1 leaves one thread, OMP_PROC_BIND=true binds the thread that loads the
library, and so every I/O thread made by it, to one processor. An OpenMP library reads its environment once, when it is
loaded, so this comes before llama_cpp.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

SPIN_COUNT = "1000"
_PREFIXES = ("OMP_", "GOMP_", "KMP_")  # the standard's, GNU's, LLVM's and Intel's


def settle_openmp(environment: MutableMapping[str, str] = os.environ) -> None:
    """Take OpenMP's variables out of this process's environment and set a short spin."""
    for name in [name for name in environment if name.upper().startswith(_PREFIXES)]:
        del environment[name]
    environment["GOMP_SPINCOUNT"] = SPIN_COUNT
