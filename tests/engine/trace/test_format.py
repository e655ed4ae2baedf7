"""Trace files: what was recorded is what is read, and a damaged file is one clear line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.trace.format import NONE, RoutingTrace, TraceError, load
from tests.engine.damage import flipped_bits


def make_trace(tokens: int = 5) -> RoutingTrace:
    random = np.random.default_rng(3)
    ranked = np.argsort(random.random((tokens, 2, 6)), axis=-1).astype(np.uint16)[:, :, :4]
    predicted = np.full((tokens, 2, 3, 4), NONE, np.uint16)
    return RoutingTrace(
        model="tiny",
        layers=(1, 4),
        n_experts=6,
        n_used=2,
        batch=np.arange(tokens, dtype=np.int32),
        decoded=np.ones(tokens, np.bool_),
        ranked=ranked,
        predicted=predicted,
        score=np.zeros(predicted.shape, np.float16),
    )


def test_a_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    trace = make_trace()
    trace.save(tmp_path / "t.npz")
    again = load(tmp_path / "t.npz")
    assert (again.model, again.layers, again.n_experts, again.n_used) == ("tiny", (1, 4), 6, 2)
    for name in ("batch", "decoded", "ranked", "predicted", "score"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))
    assert again.router is None
    assert [path.name for path in tmp_path.iterdir()] == ["t.npz"]


def test_a_failed_write_keeps_the_old_trace(tmp_path: Path) -> None:
    make_trace().save(tmp_path / "t.npz")
    with pytest.raises(TraceError, match="cannot write"):
        make_trace().save(tmp_path / "missing" / "t.npz")
    assert load(tmp_path / "t.npz").model == "tiny"


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "folder", "absent"])
def test_what_is_not_a_trace_is_one_line_that_names_it(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "t.npz"
    make_trace().save(path)
    whole = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "absent":
        path.write_bytes({"empty": b"", "text": b"hello\n" * 20, "cut": whole[: len(whole) // 2]}[damage])
    with pytest.raises(TraceError, match=r"t\.npz") as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_a_flipped_bit_is_that_line_too_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    make_trace().save(path)
    refused = 0
    for damaged in flipped_bits(path.read_bytes()):
        path.write_bytes(damaged)
        try:
            load(path)
        except TraceError:
            refused += 1
    assert refused > 100


def test_an_expert_number_out_of_range_is_refused() -> None:
    trace = make_trace()
    trace.ranked[0, 0, 0] = 6
    with pytest.raises(TraceError, match="out of range"):
        RoutingTrace(**{name: getattr(trace, name) for name in trace.__dataclass_fields__})


def test_another_version_asks_for_a_new_recording(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", header=np.frombuffer(b'{"format": "gannet-trace", "version": 99}', np.uint8))
    with pytest.raises(TraceError, match="record it again"):
        load(tmp_path / "t.npz")
