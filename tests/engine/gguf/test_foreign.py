"""A file of another kind: people who picked the wrong one learn which it is and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ModelFileError
from engine.gguf import open_model

_SAFETENSORS = (64).to_bytes(8, "little") + b'{"__metadata__":{"format":"pt"}}'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (_SAFETENSORS, "safetensors"),
        (b"PK\x03\x04" + bytes(60), "zip archive"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS pointer"),
        (b"\n<!DOCTYPE html><html>", "web page"),
        (b"<html><body>Please log in", "web page"),
        (b'{"error": "gated"}', "JSON"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"tjgg\x03\x00", "old GGJT"),
        (bytes(4096), "zeros"),
        (b"\x00\x01\x02\x03", "instead of b'GGUF'"),
        (b"\x1b[31mred\n", "instead of"),
        (b"GG", "instead of"),
    ],
)
def test_what_the_file_is_instead_is_said(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        open_model(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()
