"""The file of a trained lookahead: what is sound comes back as it was, and nothing else reaches native code."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from engine.lookahead.correction import LARGEST, Correction, CorrectionError, LookaheadCorrection, load
from tests.engine.damage import flipped_bits

MODEL = "0123456789abcdef" * 2
LAYERS, EXPERTS, WIDTH, RANK = 3, 6, 32, 4


def part(seed: int = 0) -> Correction:
    random = np.random.default_rng(seed)
    shapes = (EXPERTS, RANK), (RANK, WIDTH), (EXPERTS,)
    return Correction(*(random.normal(size=shape).astype(np.float32) for shape in shapes))


def correction(**changes: object) -> LookaheadCorrection:
    whole = LookaheadCorrection(MODEL, LAYERS, EXPERTS, WIDTH, {(1, 1): part(1), (2, 1): part(2), (2, 2): part(3)})
    return dataclasses.replace(whole, **changes)


def test_what_was_saved_is_what_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "below" / "c.npz"
    correction().save(path)
    found = load(path, MODEL, LAYERS, EXPERTS, WIDTH)
    assert found is not None and set(found.parts) == {(1, 1), (2, 1), (2, 2)}
    for place, expected in correction().parts.items():
        for name in ("up", "down", "bias"):
            np.testing.assert_array_equal(getattr(found.parts[place], name), getattr(expected, name))
    assert [file.name for file in path.parent.iterdir()] == ["c.npz"]
    assert load(tmp_path / "none.npz", MODEL, LAYERS, EXPERTS, WIDTH) is None


def test_another_model_does_not_get_it(tmp_path: Path) -> None:
    correction().save(tmp_path / "c.npz")
    shape = (LAYERS, EXPERTS, WIDTH)
    for other in (("f" * 32, *shape), (MODEL, 4, EXPERTS, WIDTH), (MODEL, LAYERS, 8, WIDTH), (MODEL, *shape[:2], 64)):
        with pytest.raises(CorrectionError, match="another model"):
            load(tmp_path / "c.npz", *other)


def broken(name: str, value: float) -> Correction:
    whole = part()
    array = getattr(whole, name).copy()
    array.reshape(-1)[-1] = value
    return dataclasses.replace(whole, **{name: array})


@pytest.mark.parametrize(
    "parts",
    [
        *({(1, 1): broken(name, value)} for name in ("up", "down", "bias") for value in (np.nan, -np.inf, 2 * LARGEST)),
        {(1, 1): dataclasses.replace(part(), up=part().up[:-1])},
        {(1, 1): dataclasses.replace(part(), down=part().down[:, :-1])},
        {(1, 1): dataclasses.replace(part(), up=part().up[:, :-1])},
        {(1, 1): dataclasses.replace(part(), bias=part().bias[:-1])},
        {(1, 1): dataclasses.replace(part(), bias=part().bias.astype(np.float64))},
        {(0, 1): part()},
        {(1, 2): part()},
        {(3, 1): part()},
        {(2, 0): part()},
    ],
)
def test_numbers_and_shapes_that_cannot_be_are_refused(
    tmp_path: Path, parts: dict[tuple[int, int], Correction]
) -> None:
    correction(parts=parts).save(tmp_path / "c.npz")
    with pytest.raises(CorrectionError, match=r"c\.npz: not used .* gannet fit-lookahead"):
        load(tmp_path / "c.npz", MODEL, LAYERS, EXPERTS, WIDTH)


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "pickle", "header", "missing"])
def test_a_damaged_file_is_one_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "c.npz"
    correction().save(path)
    with np.load(path) as file:
        arrays = dict(file)
    if damage == "pickle":
        arrays["up_1_1"] = np.array([{"a": 1}], dtype=object)
    elif damage == "header":
        arrays["header"] = np.frombuffer(b'{"format": "gannet-lookahead", "version": 1, "places": [["x"]]}', np.uint8)
    elif damage == "missing":
        del arrays["down_2_2"]
    np.savez(path, **arrays)
    if damage in ("empty", "text", "cut"):
        whole = path.read_bytes()
        path.write_bytes({"empty": b"", "text": b"hello\n" * 20, "cut": whole[: len(whole) // 2]}[damage])
    with pytest.raises(CorrectionError) as caught:
        load(path, MODEL, LAYERS, EXPERTS, WIDTH)
    assert "\n" not in str(caught.value)


def test_a_flipped_bit_is_that_line_too_or_changes_nothing(tmp_path: Path) -> None:
    """Whatever else it raised would keep the model from loading."""
    path = tmp_path / "c.npz"
    correction().save(path)
    refused = 0
    for damaged in flipped_bits(path.read_bytes()):
        path.write_bytes(damaged)
        try:
            load(path, MODEL, LAYERS, EXPERTS, WIDTH)
        except CorrectionError:
            refused += 1
    assert refused > 100


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    correction().save(tmp_path / "c.npz")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(CorrectionError, match="No space left"):
        correction(parts={}).save(tmp_path / "c.npz")
    found = load(tmp_path / "c.npz", MODEL, LAYERS, EXPERTS, WIDTH)
    assert found is not None and len(found.parts) == 3
    assert len(list(tmp_path.iterdir())) == 1
