"""The native streaming core: `_native`, a C++ module built by CMake (see `src/`)."""

import sys

if sys.platform == "win32":  # elsewhere the module itself says where ggml's libraries lie
    import importlib.util
    import os
    from pathlib import Path

    _llama = importlib.util.find_spec("llama_cpp")
    if _llama is not None and _llama.origin is not None:
        os.add_dll_directory(str(Path(_llama.origin).parent / "lib"))
