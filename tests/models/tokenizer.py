"""A small but real byte-level BPE tokenizer with a ChatML template."""

from __future__ import annotations

import string

import gguf

TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def byte_alphabet() -> list[str]:
    """The printable stand-ins for the 256 bytes that byte-level BPE vocabularies use."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    stand_in = {byte: chr(byte) for byte in printable} | {byte: chr(256 + at) for at, byte in enumerate(others)}
    return [stand_in[byte] for byte in range(256)]


def vocabulary() -> tuple[list[str], list[str]]:
    """Tokens (bytes, pairs of letters, letters after a space, special ones) and the merges that make them."""
    pairs = [(first, second) for first in ("Ġ", *string.ascii_lowercase) for second in string.ascii_lowercase]
    tokens = byte_alphabet() + [first + second for first, second in pairs] + SPECIAL
    return tokens, [f"{first} {second}" for first, second in pairs]


def add_tokenizer(writer: gguf.GGUFWriter) -> int:
    """Write the tokenizer's metadata and return the size of the vocabulary."""
    tokens, merges = vocabulary()
    kinds = [gguf.TokenType.NORMAL] * (len(tokens) - len(SPECIAL)) + [gguf.TokenType.CONTROL] * len(SPECIAL)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    return len(tokens)
