"""Reading a file that changes or fails under us: a sick drive and a running download are said as such."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

import pytest

from engine.errors import ModelFileError
from engine.gguf.source import CHUNK_BYTES, HeaderSource


class SickDrive:
    """A file whose reads fail as those of a bad sector do."""

    def seek(self, position: int) -> int:
        return position

    def read(self, nbytes: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def close(self) -> None:
        """Nothing to close."""


def source_of(path: Path, content: bytes) -> HeaderSource:
    path.write_bytes(content)
    return HeaderSource(path)


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    with source_of(tmp_path / "m.gguf", bytes(3 * CHUNK_BYTES)) as source:
        source.read(10, "the start")
        os.truncate(source.path, 100)
        with pytest.raises(ModelFileError, match="became shorter while the middle was read"):
            source.read(2 * CHUNK_BYTES, "the middle")


def test_a_drive_that_fails(tmp_path: Path) -> None:
    with source_of(tmp_path / "m.gguf", bytes(100)) as source:
        source._file.close()
        source._file = SickDrive()  # type: ignore[assignment]
        with pytest.raises(ModelFileError, match=r"m\.gguf: cannot be read .*; check the drive"):
            source.read(10, "the start")


def test_a_length_beyond_the_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    """Asked for first, 16 exabytes would be a memory error."""
    with source_of(tmp_path / "m.gguf", bytes(100)) as source:
        source._file.close()
        for ask in (source.read, source.skip, source.skip_texts):
            with pytest.raises(ModelFileError, match="ends early"):
                ask(1 << 62, "the table")
        with pytest.raises(ModelFileError, match="ends early"):
            source.texts(1 << 62, 10, "the vocabulary")


@pytest.mark.parametrize("length", [0, 1, 7, CHUNK_BYTES - 8, CHUNK_BYTES + 1])
def test_strings_are_found_wherever_the_buffer_ends(tmp_path: Path, length: int) -> None:
    """A string cut by the buffer's end must neither be lost nor shift those behind it."""
    texts = [bytes([n]) * length for n in range(5)] + [b"end"]
    content = b"".join(struct.pack("<Q", len(text)) + text for text in texts)
    with source_of(tmp_path / "m.gguf", content) as source:
        assert source.texts(6, 1 << 20, "the vocabulary") == texts
        source.seek(0)
        source.skip_texts(5, "the vocabulary")
        assert source.text(10, "the last") == b"end"
        assert source.remaining == 0


def test_going_back_reads_the_same_again(tmp_path: Path) -> None:
    content = bytes(range(256)) * (CHUNK_BYTES // 64)
    with source_of(tmp_path / "m.gguf", content) as source:
        for position in (0, CHUNK_BYTES * 3, 5, CHUNK_BYTES - 3):
            source.seek(position)
            assert source.read(10, "a piece") == content[position : position + 10]
            assert source.position == position + 10
