"""The file of a saved conversation state: a JSON line of facts, token ids, then llama.cpp's own state data.

A file is written whole or not at all, and read only if its sizes and checksum agree: llama.cpp must never be given
damaged state.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from engine.errors import GannetError
from engine.sessions.reuse import Tokens

SUFFIX = ".session"
_MAGIC = b"gannet session 1\n"
_LONGEST_FACTS = 4096


class SessionFileError(GannetError):
    """A session file is damaged or of another kind; names the file and what is wrong."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What a file says about itself. `fingerprint` names model and context settings; `checksum` covers what follows."""

    fingerprint: str
    token_count: int
    state_bytes: int
    cuttable: bool
    checksum: int


def write(path: Path, fingerprint: str, tokens: Tokens, state: bytes, cuttable: bool) -> int:
    """Write a session atomically; returns the file's size in bytes. Raises OSError."""
    ids = tokens.astype("<i4").tobytes()
    facts = SessionFacts(fingerprint, len(tokens), len(state), cuttable, zlib.crc32(state, zlib.crc32(ids)))
    line = json.dumps(asdict(facts)).encode() + b"\n"
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("wb") as file:
            file.writelines((_MAGIC, line, ids, state))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return len(_MAGIC) + len(line) + len(ids) + len(state)


def read_header(path: Path) -> tuple[SessionFacts, Tokens]:
    """Facts and token ids without the state. Raises `SessionFileError` and OSError."""
    with path.open("rb") as file:
        facts = _read_facts(path, file)
        return facts, _read_tokens(path, file, facts)


def read(path: Path) -> tuple[SessionFacts, Tokens, bytes]:
    """A whole session, checked. Raises `SessionFileError` and OSError."""
    with path.open("rb") as file:
        facts = _read_facts(path, file)
        tokens = _read_tokens(path, file, facts)
        state = file.read(facts.state_bytes)
    if zlib.crc32(state, zlib.crc32(tokens.astype("<i4").tobytes())) != facts.checksum:
        raise SessionFileError(f"{path.name}: the checksum does not match")
    return facts, tokens, state


def _read_facts(path: Path, file: BinaryIO) -> SessionFacts:
    if file.read(len(_MAGIC)) != _MAGIC:
        raise SessionFileError(f"{path.name} is not a session file of this version")
    line = file.readline(_LONGEST_FACTS)
    try:
        facts = SessionFacts(**json.loads(line))
    except (ValueError, TypeError):
        raise SessionFileError(f"{path.name}: its first line is damaged") from None
    numbers = (facts.token_count, facts.state_bytes, facts.checksum)
    sound = all(isinstance(number, int) and number >= 0 for number in numbers)
    expected = file.tell() + 4 * facts.token_count + facts.state_bytes if sound else -1
    if expected != path.stat().st_size:
        raise SessionFileError(f"{path.name}: its size does not match its first line")
    return facts


def _read_tokens(path: Path, file: BinaryIO, facts: SessionFacts) -> Tokens:
    data = file.read(4 * facts.token_count)
    if len(data) != 4 * facts.token_count:
        raise SessionFileError(f"{path.name} ends early")
    return np.frombuffer(data, dtype="<i4").astype(np.int32)
