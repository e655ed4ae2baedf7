"""Hypothesis strategies for files that are broken in every way a header can be, and what must hold for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from engine.errors import ModelFileError
from engine.gguf import open_model
from engine.gguf.types import GGML_TYPES, SCALAR_FORMATS, ValueType
from engine.gguf.values import StoredArray
from engine.inspection import describe, inspect_model
from engine.memory import MemoryAvailable
from engine.settings import EngineSettings
from tests.engine.gguf.header_bytes import DENSE, MODEL, GgufBytes, Tensor, expert_tensors

# Where counts, lengths and sizes go wrong: around powers of two, signs and the ends of the types.
EDGES = sorted(
    {sign * (1 << bit) + step for bit in range(65) for step in (-1, 0, 1) for sign in (1, -1)} | {2, 3, 5, 100}
)
_LITTLE = st.integers(0, 40)


def _within(low: int, high: int) -> st.SearchStrategy[int]:
    edges = [edge for edge in EDGES if low <= edge <= high]
    return st.one_of(st.sampled_from(edges), st.integers(max(low, 0), min(high, 40)))


UNSIGNED_64 = _within(0, (1 << 64) - 1)
SIGNED_64 = _within(-(1 << 63), (1 << 63) - 1)
UNSIGNED_32 = _within(0, (1 << 32) - 1)

_RANGES = {"B": (0, 255), "b": (-128, 127), "H": (0, 65535), "h": (-32768, 32767)}
_RANGES |= {"I": (0, (1 << 32) - 1), "i": (-(1 << 31), (1 << 31) - 1)}
_RANGES |= {"Q": (0, (1 << 64) - 1), "q": (-(1 << 63), (1 << 63) - 1)}


def scalars(kind: ValueType) -> st.SearchStrategy[Any]:
    """Values of one type."""
    if kind is ValueType.STRING:
        return st.one_of(st.text(max_size=12), st.binary(max_size=12), st.sampled_from(["qwen3moe", "gpt2", "clip"]))
    code = SCALAR_FORMATS[kind]
    if code == "?":
        return st.booleans()
    if code in "fd":
        return st.floats(width=32 if code == "f" else 64)
    return _within(*_RANGES[code])


class Broken(NamedTuple):
    """A file: its start, and its length, as far as which zeros follow."""

    start: bytes
    size: int

    def write(self, path: Path) -> None:
        """Write it; the zeros take no room on the drive."""
        with path.open("wb") as file:
            file.write(self.start)
            file.truncate(self.size)


@st.composite
def values(draw: st.DrawFn) -> tuple[ValueType, Any]:
    """A metadata value or array of any type."""
    kind = draw(st.sampled_from([kind for kind in ValueType if kind is not ValueType.ARRAY]))
    one = scalars(kind)
    return kind, draw(st.one_of(one, st.lists(one, max_size=5)))


_KEYS = [
    *MODEL,
    "general.type",
    "general.alignment",
    "split.no",
    "split.count",
    "split.tensors.count",
    "tokenizer.chat_template",
    "tokenizer.ggml.scores",
    "tokenizer.ggml.token_type",
    "qwen3moe.nextn_predict_layers",
    "qwen3moe.expert_group_count",
    "qwen3moe.expert_feed_forward_length",
    "qwen3moe.feed_forward_length",
    "qwen3moe.attention.key_length",
    "qwen3moe.attention.value_length",
    "qwen3moe.attention.key_length_mla",
    "qwen3moe.attention.recurrent_layers",
    "qwen3moe.full_attention_interval",
    "qwen3moe.ssm.conv_kernel",
    "qwen3moe.ssm.inner_size",
    "qwen3moe.wkv.head_size",
]
_NAMES = [tensor.name for tensor in (*DENSE, *expert_tensors(0), *expert_tensors(99999999999999))]


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    """A row of the tensor table."""
    shape = draw(st.lists(st.one_of(SIGNED_64, st.sampled_from([1, 4, 32, 256])), max_size=5))
    name = draw(st.one_of(st.sampled_from(_NAMES), st.text(max_size=8), st.binary(max_size=70)))
    type_id = draw(st.one_of(st.sampled_from(sorted(GGML_TYPES)), UNSIGNED_32))
    offset = draw(st.one_of(st.none(), UNSIGNED_64))
    return Tensor(name, tuple(shape), type_id, offset, draw(st.one_of(st.none(), UNSIGNED_32)))


def _rarely(usual: Any, odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 5).flatmap(lambda roll: odd if roll == 5 else st.just(usual))


@st.composite
def generated(draw: st.DrawFn) -> Broken:
    """A file made of parts that may each be anything."""
    builder = GgufBytes()
    for key in draw(st.lists(st.sampled_from(_KEYS), max_size=4)):
        builder.with_value(key, *draw(values()))
    for key in draw(st.lists(st.text(max_size=6), max_size=2)):
        builder.with_value(key, *draw(values()))
    builder.tensors = draw(st.permutations([*builder.tensors, *draw(_rarely([], st.lists(tensors(), max_size=2)))]))
    # Rarely, because each of these is refused before anything behind it is read.
    builder.version = draw(_rarely(3, UNSIGNED_32))
    builder.n_tensors = draw(_rarely(None, SIGNED_64))
    builder.n_values = draw(_rarely(None, SIGNED_64))
    builder.raw_values = draw(_rarely(b"", st.binary(max_size=40)))
    builder.missing_bytes = draw(_rarely(0, _LITTLE))
    return Broken(builder.header(), builder.size())


def _set(width: int) -> Callable[[bytearray, int, int], None]:
    def change(content: bytearray, at: int, number: int) -> None:
        content[at : at + width] = (number % (1 << (8 * width))).to_bytes(width, "little")

    return change


def _flip(content: bytearray, at: int, number: int) -> None:
    content[at] ^= 1 << (number % 8)


def _cut(content: bytearray, at: int, number: int) -> None:
    del content[at:]


def _delete(content: bytearray, at: int, number: int) -> None:
    del content[at : at + number % 64]


def _repeat(content: bytearray, at: int, number: int) -> None:
    content[at:at] = content[at : at + number % 256]


def _insert(content: bytearray, at: int, number: int) -> None:
    content[at:at] = (number % (1 << 64)).to_bytes(8, "little")


CHANGES = (_set(1), _set(4), _set(8), _flip, _flip, _cut, _delete, _repeat, _insert)


@st.composite
def mutated(draw: st.DrawFn) -> Broken:
    """A good file with a few damages in its header."""
    long_array = {"x.long": (ValueType.STRING, ["ab"] * 1100)}
    good = GgufBytes(values=MODEL | (long_array if draw(st.booleans()) else {}))
    header = good.header()
    content = bytearray(header)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(header) - 1))
        if at < len(content):
            draw(st.sampled_from(CHANGES))(content, at, draw(SIGNED_64))
    data = draw(st.sampled_from([0, 1, 1000, good.size() - len(header), good.size()]))
    return Broken(bytes(content), len(content) + data)


BROKEN = st.one_of(mutated(), generated())
_AVAILABLE = MemoryAvailable(8 << 30, 4 << 30)


def opens(path: Path) -> bool:
    """Whether the file opens; anything but a clear refusal or a usable model is an error here."""
    try:
        files = open_model(path)
    except ModelFileError as error:
        assert str(error).startswith(str(path.parent)), error
        assert str(error).isprintable(), error
        return False
    facts = inspect_model(files, EngineSettings(), _AVAILABLE)
    assert json.dumps(facts.to_json())
    assert all(label and sentence for label, sentence in describe(facts))
    for value in files.metadata.values():
        if isinstance(value, StoredArray):
            assert len(list(value)) == len(value)
    return True
