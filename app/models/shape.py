"""The few sizes of a model that decide how fast it runs when its experts are streamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ModelShape:
    """Sizes of one model; every size in bytes of the file's own quantization.

    Attributes:
        total_bytes: the whole file (all parts of a split one).
        expert_bytes: all routed experts of all layers together; 0 for a dense model.
        n_expert: routed experts per layer; 0 for a dense model.
        n_expert_used: experts the router picks per layer and token.
        kv_bytes_per_token: key/value cache for one token of context.
        context_length: the longest context the model was made for, in tokens.
    """

    total_bytes: int
    expert_bytes: int
    n_expert: int
    n_expert_used: int
    kv_bytes_per_token: int
    context_length: int

    @property
    def always_bytes(self) -> int:
        """Weights that work for every token and therefore stay in memory."""
        return self.total_bytes - self.expert_bytes

    @property
    def active_expert_bytes(self) -> int:
        """Expert weights that one token uses, over all layers."""
        if self.n_expert == 0:
            return 0
        return self.expert_bytes * self.n_expert_used // self.n_expert

    @property
    def is_moe(self) -> bool:
        """Whether the model has routed experts, that is, whether there is anything to stream."""
        return self.n_expert > 0 and self.expert_bytes > 0

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> ModelShape:
        """Read a shape from JSON; raises ValueError naming the field when one is missing or negative."""
        values = {}
        for name in cls.__dataclass_fields__:
            value = data.get(name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(f"{name} is not a size: {value!r}")
            values[name] = value
        if values["expert_bytes"] > values["total_bytes"]:
            raise ValueError("expert_bytes is larger than total_bytes")
        return cls(**values)
