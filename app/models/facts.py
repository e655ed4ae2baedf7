"""What a model file's header says, as the engine reads it for us (`POST /engine/inspect`). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.models.shape import ModelShape


@dataclass(frozen=True)
class ModelFacts:
    """Facts shown beside a model. `shape` has the sizes that the estimate needs.

    `architecture`, `quantization` and `name` are as in the header; `n_layer` counts layers.
    """

    name: str
    architecture: str
    quantization: str
    n_layer: int
    shape: ModelShape

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ModelFacts:
        """Inverse of to_json; raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            str(data["name"]), str(data["architecture"]), str(data["quantization"]), int(data["n_layer"]),
            ModelShape.from_mapping(data["shape"]),
        )  # fmt: skip
