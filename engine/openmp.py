"""How long ggml's idle compute threads spin before they sleep.

libgomp's default spins for milliseconds, which on a machine with other work to do starves the threads that are waited
for: plain llama.cpp with two threads on the demo model, two cores and a load of 12 decoded 4 to 17 tokens a second by
default and 34 to 79 with this. libgomp reads its environment once, when it is loaded, so this comes before llama_cpp.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

SPIN_COUNT = "1000"
_CHOSEN_BY_USER = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def settle_waiting(environment: MutableMapping[str, str] = os.environ) -> None:
    """Set a short spin unless the user's environment says how to wait."""
    if not any(name in environment for name in _CHOSEN_BY_USER):
        environment["GOMP_SPINCOUNT"] = SPIN_COUNT
