"""Which model architectures the installed llama.cpp can run.

llama.cpp has no call that lists them. Their names stand in its library as plain strings, so a name that does not
occur there is one it lacks. A name that occurs by chance is let through, and llama.cpp refuses it itself.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

_LIBRARY_NAMES = ("libllama.so", "libllama.dylib", "llama.dll", "libllama.dll")


def is_supported(architecture: str) -> bool:
    """Whether the installed llama.cpp knows the architecture; True as well where its library is not found."""
    library = _library()
    return library is None or architecture.encode() + b"\0" in library


@lru_cache(maxsize=1)
def _library() -> bytes | None:
    spec = find_spec("llama_cpp")  # looks for it without importing it
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for name in _LIBRARY_NAMES:
            path = Path(folder) / "lib" / name
            try:
                return path.read_bytes()
            except OSError:
                continue
    return None
