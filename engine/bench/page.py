"""A section of a documentation page that the bench writes and writes again, the text around it left alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from engine.errors import GannetError

BEGIN = "<!-- gannet bench: begin -->"
END = "<!-- gannet bench: end -->"


def with_section(page: str, section: str) -> str:
    """`page` with `section` between the marks; a page without marks gets them at its end."""
    block = f"{BEGIN}\n\n{section.strip()}\n\n{END}\n"
    before, found, rest = page.partition(BEGIN)
    if not found:
        return f"{page.rstrip()}\n\n{block}" if page.strip() else f"# Benchmarks\n\n{block}"
    return before + block + rest.partition(END)[2].removeprefix("\n")


def write(path: Path, section: str) -> None:
    """Put the section into the file, made if it is not there. Raises `GannetError`."""
    try:
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(with_section(page, section))
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(name, path)
    except OSError as error:
        raise GannetError(f"{path}: cannot be written: {error.strerror or error}") from None
