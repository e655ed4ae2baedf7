"""The native streaming core: `_native`, a C++ module built by CMake (see `src/`)."""
