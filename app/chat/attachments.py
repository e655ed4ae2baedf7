"""Text files that go with a message (no Qt)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.i18n import tr

LARGEST_BYTES = 1 << 20


class AttachmentError(Exception):
    """Why a file cannot be attached, in one line."""


@dataclass(frozen=True)
class Attachment:
    """A file's name and its text."""

    name: str
    text: str


def read_attachment(path: Path) -> Attachment:
    """Read a text file (UTF-8, or UTF-16 with a byte order mark, else Latin-1). Raises AttachmentError."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise AttachmentError(tr("{name} is larger than 1 MB; attach a part of it.").format(name=path.name))
        content = path.read_bytes()
    except OSError as problem:
        raise AttachmentError(
            tr("{name} could not be read: {why}").format(name=path.name, why=problem.strerror)
        ) from None
    return Attachment(path.name, _decoded(content, path.name))


def _decoded(content: bytes, name: str) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if b"\0" in content[:8192]:
        raise AttachmentError(tr("{name} is not a text file.").format(name=name))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
