"""A damaged header must become one clear line; what is lost otherwise is the whole program, or hours of a download."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from engine.errors import ModelFileError
from engine.gguf.header import read_header
from engine.gguf.types import GGML_TYPES, ValueType
from engine.gguf.values import StoredArray
from tests.engine.gguf.header_bytes import F16, F32, Q4_K, WIDTH, GgufBytes, Tensor, entry, text


def problem(folder: Path, content: bytes) -> str:
    """The message for a file with this content."""
    path = folder / "broken.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        read_header(path)
    message = str(caught.value)
    assert message.startswith(str(path)), "an error that does not name the file leaves the user searching"
    assert "\n" not in message
    return message


def test_what_a_good_header_says_arrives(tmp_path: Path) -> None:
    content = GgufBytes().build()
    header = read_header(GgufBytes().write(tmp_path / "good.gguf"))
    assert header.size == len(content)
    assert header.metadata["general.name"] == "tiny"
    assert header.metadata["tokenizer.ggml.tokens"] == ["a", "b", "c"]
    assert header.metadata["qwen3moe.block_count"] == 1
    embedding, router, gate = header.tensors[:3]
    assert (embedding.name, embedding.shape, embedding.ggml_type.name) == ("token_embd.weight", (WIDTH, 3), "F16")
    assert embedding.nbytes == WIDTH * 3 * 2
    assert router.offset == embedding.offset + embedding.nbytes
    assert gate.nbytes == WIDTH * WIDTH * 4 * 144 // 256
    assert header.tensors[-1].offset + header.tensors[-1].nbytes == len(content)


def test_tensor_offsets_point_at_their_data(tmp_path: Path) -> None:
    """An offset that is off by the padding makes every answer noise."""
    builder = GgufBytes(tensors=[Tensor("a", (3,)), Tensor("b", (8,))], alignment=64)
    builder.with_value("general.alignment", ValueType.UINT32, 64)
    whole = bytearray(builder.build())
    whole[-64:-32] = struct.pack("<8f", *range(8))
    path = tmp_path / "model.gguf"
    path.write_bytes(whole)
    second = read_header(path).tensors[1]
    assert struct.unpack("<8f", path.read_bytes()[second.offset : second.offset + second.nbytes]) == tuple(range(8))


@pytest.mark.parametrize("kind", [kind for kind in ValueType if kind is not ValueType.ARRAY])
def test_every_type_of_value_is_read(tmp_path: Path, kind: ValueType) -> None:
    value = {ValueType.STRING: "Ä b", ValueType.BOOL: True, ValueType.FLOAT32: 0.5, ValueType.FLOAT64: -0.25}.get(
        kind, 7
    )
    builder = GgufBytes().with_value("x.one", kind, value).with_value("x.many", kind, [value, value])
    header = read_header(builder.write(tmp_path / "model.gguf"))
    assert header.metadata["x.one"] == value
    assert header.metadata["x.many"] == [value, value]
    assert header.value_types["x.one"] is header.value_types["x.many"] is kind


@pytest.mark.parametrize("kind", [ValueType.STRING, ValueType.INT32])
def test_a_long_array_is_there_when_looked_into(tmp_path: Path, kind: ValueType) -> None:
    """Vocabularies stay in the file until somebody needs them; then they must be the right ones."""
    values = [f"token {n}" if kind is ValueType.STRING else n for n in range(70_000)]
    builder = GgufBytes().with_value("x.before", kind, values).with_value("x.after", ValueType.UINT8, 9)
    header = read_header(builder.write(tmp_path / "model.gguf"))
    stored = header.metadata["x.before"]
    assert isinstance(stored, StoredArray)
    assert (len(stored), header.metadata["x.after"]) == (70_000, 9)
    assert (stored[0], stored[-1], stored[5:7]) == (values[0], values[-1], values[5:7])
    assert list(stored) == values


def test_a_string_longer_than_the_read_buffer_is_whole(tmp_path: Path) -> None:
    template = "{{ x }}" * 60_000
    header = read_header(GgufBytes().with_value("x.t", ValueType.STRING, template).write(tmp_path / "model.gguf"))
    assert header.metadata["x.t"] == template


def test_half_a_character_in_a_token_does_not_stop_the_model(tmp_path: Path) -> None:
    """Byte-level vocabularies have such tokens; a reader that insists on UTF-8 refuses good models."""
    builder = GgufBytes().with_value("x.tokens", ValueType.STRING, [b"\xe4\xb8", b"ok"])
    assert read_header(builder.write(tmp_path / "model.gguf")).metadata["x.tokens"][1] == "ok"


def test_version_2_is_read(tmp_path: Path) -> None:
    assert read_header(GgufBytes(version=2).write(tmp_path / "model.gguf")).metadata["general.name"] == "tiny"


@pytest.mark.parametrize(
    ("version", "says"),
    [(0, "version 0 is not supported"), (1, "newer conversion"), (4, "update Gannet"), (3 << 24, "big-endian")],
)
def test_other_versions_are_named(tmp_path: Path, version: int, says: str) -> None:
    assert says in problem(tmp_path, GgufBytes(version=version).build())


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"n_tensors": -1}, "more than fit"),
        ({"n_tensors": 1 << 60}, "more than fit"),
        ({"n_values": 1 << 40}, "more than fit"),
        ({"n_values": -5}, "more than fit"),
        ({"raw_values": text("k") + struct.pack("<I", 77), "n_values": 12}, "type 77"),
        ({"raw_values": entry("general.name", ValueType.UINT8, 1), "n_values": 12}, "there twice"),
        ({"raw_values": struct.pack("<Q", 1 << 63), "n_values": 12}, "claims 9,223,372,036,854,775,808 bytes"),
        ({"raw_values": text(""), "n_values": 12}, "has no name"),
        ({"raw_values": text(b"\xff\xfe"), "n_values": 12}, "is not text"),
        ({"raw_values": text("k") + struct.pack("<IQ", 8, 1 << 50), "n_values": 12}, "metadata k claims"),
        ({"raw_values": text("k") + struct.pack("<IIQ", 9, 4, 1 << 62), "n_values": 12}, "elements"),
        ({"raw_values": text("k") + struct.pack("<IIQ", 9, 8, 1 << 29), "n_values": 12}, "ends early"),
        ({"raw_values": text("k") + struct.pack("<IIQ", 9, 5, 1 << 29), "n_values": 12}, "ends early"),
        ({"raw_values": text("k") + struct.pack("<IIQ", 9, 9, 1), "n_values": 12}, "array of arrays"),
    ],
)
def test_absurd_counts_and_values_cost_one_line_and_no_memory(
    tmp_path: Path, changed: dict[str, object], says: str
) -> None:
    assert says in problem(tmp_path, GgufBytes(**changed).build())  # type: ignore[arg-type]


@pytest.mark.parametrize("alignment", [0, 3, 48, 1 << 31])
def test_an_absurd_alignment_is_named(tmp_path: Path, alignment: int) -> None:
    builder = GgufBytes().with_value("general.alignment", ValueType.UINT32, alignment)
    assert "general.alignment" in problem(tmp_path, builder.build())


def test_an_alignment_of_another_type_is_named(tmp_path: Path) -> None:
    """llama.cpp refuses it in its log only."""
    assert "32-bit" in problem(tmp_path, GgufBytes().with_value("general.alignment", ValueType.UINT64, 32).build())


@pytest.mark.parametrize(
    ("tensor", "says"),
    [
        (Tensor("t", (4, 4, 4, 4, 4)), "5 dimensions"),
        (Tensor("t", (), n_dims=0), "0 dimensions"),
        (Tensor("t", (4,), n_dims=1 << 31), "2147483648 dimensions"),
        (Tensor("t", (0, 4)), "a dimension of 0"),
        (Tensor("t", (-32, 4)), "a dimension of -32"),
        (Tensor("t", (1 << 40, 1 << 40)), "impossibly many"),
        (Tensor("t", (1 << 62,)), "impossibly many"),
        (Tensor("t", (100,), Q4_K), "rows of 100 weights"),
        (Tensor("t", (32,), 4), "type 4,"),
        (Tensor("t", (32,), 4_000_000_000), "type 4000000000"),
        (Tensor("t" * 64, (32,)), "64 bytes, not 1 to 63"),
        (Tensor("", (32,)), "0 bytes"),
        (Tensor(b"\xff", (32,)), "is not text"),
        (Tensor("a\0b", (32,)), "zero byte"),
        (Tensor("t", (32,), offset=1), "not a multiple of 32"),
        (Tensor("t", (32,), offset=1 << 63), "instead of"),
        (Tensor("t", (32,), offset=0), "inside the data of the tensor before it"),
        (Tensor("token_embd.weight", (32,)), "there twice"),
        (Tensor("line\nbreak", (32,), 99), "line\\nbreak"),
    ],
)
def test_a_damaged_tensor_row_is_named(tmp_path: Path, tensor: Tensor, says: str) -> None:
    first = Tensor("token_embd.weight", (WIDTH, 3), F16)
    assert says in problem(tmp_path, GgufBytes(tensors=[first, tensor]).build())


@pytest.mark.parametrize("kind", ["F64", "I8", "I16", "I32", "I64", "Q8_1", "Q8_K"])
def test_weights_that_would_crash_llama_cpp_are_refused(tmp_path: Path, kind: str) -> None:
    """A router stored as F64 is a call of a null pointer in stock ggml: the program would be gone."""
    type_id = next(row.type_id for row in GGML_TYPES.values() if row.name == kind)
    message = problem(tmp_path, GgufBytes(tensors=[Tensor("blk.0.ffn_gate_inp.weight", (WIDTH, 4), type_id)]).build())
    assert "blk.0.ffn_gate_inp.weight" in message
    assert kind in message


def test_tables_of_ids_may_be_integers(tmp_path: Path) -> None:
    """Some models route by a table of token ids; refusing integers everywhere would refuse them."""
    builder = GgufBytes(tensors=[Tensor("blk.0.ffn_gate_tid2eid.weight", (4, 3), 26)])
    assert len(read_header(builder.write(tmp_path / "model.gguf")).tensors) == 1


@pytest.mark.parametrize("missing", [1, 1000, WIDTH * WIDTH])
def test_an_incomplete_download_is_called_one(tmp_path: Path, missing: int) -> None:
    message = problem(tmp_path, GgufBytes(missing_bytes=missing).build())
    assert "download is incomplete" in message
    assert f"{missing:,} of" in message
    assert "ffn_" in message


def test_an_unpadded_end_is_complete(tmp_path: Path) -> None:
    """Writers that leave out the padding after the last tensor make good files."""
    builder = GgufBytes(tensors=[Tensor("t", (3,), F32)], missing_bytes=20)
    assert read_header(builder.write(tmp_path / "model.gguf")).tensors[0].nbytes == 12


def test_a_header_cut_anywhere_is_one_clear_line(tmp_path: Path) -> None:
    header = GgufBytes().header()
    for length in range(len(header)):
        assert problem(tmp_path, header[:length])
