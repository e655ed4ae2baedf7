"""Writes a tiny model file from a recipe."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import gguf
import numpy as np

from tests.models.architectures import ARCHITECTURES, Architecture
from tests.models.quantization import QUANTIZATIONS, quantized
from tests.models.shapes import tensor_shapes
from tests.models.tokenizer import add_tokenizer


@dataclass(frozen=True)
class Recipe:
    """What to build. `parts` above 1 makes a split model; other `seed`s make other weights."""

    architecture: str = "qwen3moe"
    quantization: str = "Q4_K"
    parts: int = 1
    seed: int = 1

    @property
    def name(self) -> str:
        """A file name without its end."""
        return f"{self.architecture}-{self.quantization}-{self.parts}-{self.seed}"


def build(folder: Path, recipe: Recipe) -> Path:
    """Write the model into `folder` and return its (first) file; what is there already is not written again."""
    target = folder / recipe.name
    first = target.with_suffix(".gguf") if recipe.parts == 1 else folder / _part_name(recipe, 0)
    if first.exists():
        return first
    architecture = ARCHITECTURES[recipe.architecture]
    header = folder / f"{recipe.name}.header"
    _write_metadata(header, architecture)
    tensors = {name: _tensor(name, shape, recipe) for name, shape in _shapes(header, architecture).items()}
    header.unlink()
    names = sorted(tensors, key=_layer)
    share = -(-len(names) // recipe.parts)
    for part in reversed(range(recipe.parts)):  # the first last: it says that the model is complete
        path = first if recipe.parts == 1 else folder / _part_name(recipe, part)
        mine = names[part * share : (part + 1) * share]
        _write(path, architecture, recipe, part, {name: tensors[name] for name in mine}, len(names))
    return first


def _layer(name: str) -> int:
    """For an order as files have it: layer by layer, what belongs to none first."""
    found = re.match(r"blk\.(\d+)", name)
    return int(found[1]) if found else -1


def _part_name(recipe: Recipe, part: int) -> str:
    return f"{recipe.name}-{part + 1:05d}-of-{recipe.parts:05d}.gguf"


def _shapes(header: Path, architecture: Architecture) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in tensor_shapes(header).items():
        if "ffn_gate_up_exps" in name and architecture.split_gate_up:
            half = (shape[0], shape[1] // 2, *shape[2:])
            shapes[name.replace("gate_up", "gate")] = shapes[name.replace("gate_up", "up")] = half
        elif architecture.has(name):
            shapes[name] = shape
    return shapes


def _tensor(name: str, shape: tuple[int, ...], recipe: Recipe) -> tuple[np.ndarray, gguf.GGMLQuantizationType]:
    kind = QUANTIZATIONS[recipe.quantization].type_of(name, shape)
    # By name, so that a tensor does not depend on the others.
    random = np.random.default_rng([recipe.seed, *name.encode()])
    if "_exps.weight" in name:
        pool = _rows(kind, shape[0], 2.0 if "down" in name else 1.0)
        return pool[random.integers(0, len(pool), shape[:0:-1])], kind
    return quantized(_values(name, shape, random), kind), kind


@cache
def _rows(kind: gguf.GGMLQuantizationType, length: int, gain: float) -> np.ndarray:
    """Quantized random rows that expert matrices are drawn from; quantizing each anew would take seconds."""
    values = np.random.default_rng(0).standard_normal((2048, length), np.float32)
    return quantized(values * np.float32(gain / np.sqrt(length)), kind)


def _values(name: str, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Float32 of `shape` (given as ne[]), in numpy's order of axes."""
    axes = shape[::-1]
    if "rope_freqs" in name:
        return np.ones(axes, np.float32)
    values = random.standard_normal(axes, np.float32)
    if name.endswith("ssm_a"):  # a decay: a positive one would grow without end
        return -np.abs(values)
    if re.search(r"norm\.weight", name):
        return 1 + np.float32(0.1) * values
    if name.endswith(".bias") or "sinks" in name or len(shape) == 1:
        return np.float32(0.1) * values
    if name == "token_embd.weight":
        return values
    gain = 2.0 if "ffn_gate_inp" in name else 1.0
    return values * np.float32(gain / np.sqrt(shape[0]))


def _write_metadata(path: Path, architecture: Architecture) -> None:
    writer = _writer(path, architecture)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def _write(
    path: Path,
    architecture: Architecture,
    recipe: Recipe,
    part: int,
    tensors: dict[str, tuple[np.ndarray, gguf.GGMLQuantizationType]],
    n_tensors: int,
) -> None:
    writer = _writer(path, architecture) if part == 0 else gguf.GGUFWriter(path, architecture.name)
    if recipe.parts > 1:
        writer.add_uint16("split.no", part)
        writer.add_uint16("split.count", recipe.parts)
        writer.add_int32("split.tensors.count", n_tensors)
    for name, (data, kind) in tensors.items():
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _writer(path: Path, architecture: Architecture) -> gguf.GGUFWriter:
    writer = gguf.GGUFWriter(path, architecture.name)
    writer.add_name(f"tiny random {architecture.name}")
    for key, value in architecture.values().items():
        _add_value(writer, key, value)
    writer.add_uint32(f"{architecture.name}.vocab_size", add_tokenizer(writer))
    return writer


def _add_value(writer: gguf.GGUFWriter, key: str, value: bool | int | float) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    else:
        writer.add_float32(key, value)
