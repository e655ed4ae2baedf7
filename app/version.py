"""Which version of the program this is."""

from __future__ import annotations

import functools
import importlib.metadata

WRITER_KEY = "written_by"
"""Name under which the user's JSON files keep the version of the program that wrote them."""


@functools.cache
def program_version() -> str:
    """Version of the installed program."""
    try:
        return importlib.metadata.version("gannet")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"
