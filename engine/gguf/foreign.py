"""Says what a file is that is not GGUF, from its first bytes, and what to do instead."""

from __future__ import annotations

_GGUF_INSTEAD = "download the model's .gguf file"
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "is a Git LFS pointer, not the file itself; run `git lfs pull` or download it"),
    (b"PK\x03\x04", f"looks like a zip archive or a PyTorch checkpoint; unpack it or {_GGUF_INSTEAD}"),
    (b"\x1f\x8b", "is compressed with gzip; unpack it"),
    (b"\xfd7zXZ\x00", "is compressed with xz; unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it"),
    (b"Rar!", "is a RAR archive; unpack it"),
    (b"%PDF", f"is a PDF document; {_GGUF_INSTEAD}"),
    (b"\x80\x02", f"looks like a PyTorch checkpoint; {_GGUF_INSTEAD}"),
    (b"\x89HDF", f"looks like a Keras (HDF5) model; {_GGUF_INSTEAD}"),
    (b"tjgg", f"is in llama.cpp's old GGJT format; {_GGUF_INSTEAD}"),
    (b"lmgg", f"is in llama.cpp's old GGML format; {_GGUF_INSTEAD}"),
    (b"fmgg", f"is in llama.cpp's old GGMF format; {_GGUF_INSTEAD}"),
    (b"algg", "is an old LoRA adapter; name the model itself"),
)


def describe_foreign(start: bytes) -> str:
    """The rest of the sentence "it ..." for a file that begins with `start`."""
    for signature, sentence in _SIGNATURES:
        if start.startswith(signature):
            return sentence
    if _is_safetensors(start):
        return f"is a safetensors file; {_GGUF_INSTEAD} or convert it with llama.cpp"
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "is a web page (a download that needed a login or failed); download it again"
    if text.startswith((b"{", b"[")):
        return f"looks like JSON; {_GGUF_INSTEAD}"
    if not start.strip(b"\0"):
        return "begins with zeros (a download that has only reserved its space); download it again"
    return f"begins with {start[:4]!r} instead of b'GGUF'; download it again"


def _is_safetensors(start: bytes) -> bool:
    """Safetensors begin with the length of a JSON object and then that object."""
    if len(start) < 10 or start[8:9] != b"{":
        return False
    return start[9:].lstrip()[:1] in (b'"', b"}")
