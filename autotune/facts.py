"""What measuring and predicting need to know of a model: sizes and shapes, from its header alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from engine.gguf import ExpertTensor, ModelFiles
from engine.memory.kv_cache import kv_bytes_per_token
from engine.memory.plan import compute_bytes


@dataclass(frozen=True)
class ExpertShape:
    """One kind of expert matrix. `rows` x `columns` weights of ggml type `ggml_type` take `nbytes` bytes.

    `matrices` counts the matrices of this kind that one token multiplies with, over all layers (used experts only).
    """

    ggml_type: int
    type_name: str
    columns: int
    rows: int
    nbytes: int
    matrices: int


@dataclass(frozen=True)
class ReadRange:
    """Where one expert's matrix lies: index into the model's files, first byte, length."""

    file: int
    offset: int
    nbytes: int


@dataclass(frozen=True)
class ModelFacts:
    """Sizes in bytes. `expert_bytes` is one expert of one layer (all its projections), the mean over the layers.

    `batch_bytes`: working memory for each further token that is computed together with others.
    """

    path: Path
    paths: tuple[Path, ...]
    name: str
    architecture: str
    n_layer: int
    n_moe_layer: int
    n_expert: int
    n_used: int
    context_length: int
    total_bytes: int
    experts_bytes: int
    expert_bytes: int
    kv_bytes_per_token: int
    batch_bytes: int
    embedding_bytes: int
    shapes: tuple[ExpertShape, ...]
    ranges: tuple[ReadRange, ...]

    @property
    def streamed(self) -> bool:
        """Whether there are routed experts at all."""
        return self.n_moe_layer > 0

    @property
    def dense_bytes(self) -> int:
        """Bytes every token needs, whatever the router says; always in memory."""
        return self.total_bytes - self.experts_bytes

    @property
    def token_bytes(self) -> int:
        """Expert bytes one token uses: what it would read with no cache at all."""
        return self.n_moe_layer * self.n_used * self.expert_bytes


MAX_RANGES = 65536
"""Enough different places for a drive probe; a larger model is sampled evenly."""


def facts_of(files: ModelFiles) -> ModelFacts:
    """The facts of an opened model. Reads nothing but the header that `files` already holds."""
    experts = tuple(e for e in files.experts() if files.is_loaded(e.tensor))
    n_moe_layer = len({e.layer for e in experts})
    experts_bytes = sum(e.tensor.nbytes for e in experts)
    return ModelFacts(
        path=files.path,
        paths=files.paths,
        name=files.name,
        architecture=files.architecture,
        n_layer=files.n_layer,
        n_moe_layer=n_moe_layer,
        n_expert=files.n_expert,
        n_used=files.n_expert_used,
        context_length=files.context_length,
        total_bytes=sum(t.nbytes for t in files.tensors if files.is_loaded(t)),
        experts_bytes=experts_bytes,
        expert_bytes=experts_bytes // max(1, n_moe_layer * files.n_expert),
        kv_bytes_per_token=kv_bytes_per_token(files),
        batch_bytes=(compute_bytes(files, 2048, 4096) - compute_bytes(files, 1024, 4096)) // 1024,
        embedding_bytes=_embedding_bytes(files),
        shapes=_shapes(experts, files.n_expert_used),
        ranges=_ranges(experts),
    )


def _shapes(experts: tuple[ExpertTensor, ...], n_used: int) -> tuple[ExpertShape, ...]:
    count: Counter[tuple[int, str, int, int, int]] = Counter()
    for expert in experts:
        kind = expert.tensor.ggml_type
        count[kind.type_id, kind.name, expert.tensor.shape[0], expert.rows, expert.bytes_per_expert] += n_used
    return tuple(ExpertShape(*kind, matrices=n) for kind, n in count.most_common())


def _ranges(experts: tuple[ExpertTensor, ...]) -> tuple[ReadRange, ...]:
    places = [ReadRange(e.tensor.file, e.offset_of(i), e.bytes_per_expert) for e in experts for i in range(e.n_expert)]
    return tuple(places[:: max(1, len(places) // MAX_RANGES)])


def _embedding_bytes(files: ModelFiles) -> int:
    """The table of which a token needs one row; 0 where it is the output matrix too, which is used whole."""
    names = {t.name: t.nbytes for t in files.tensors}
    return names.get("token_embd.weight", 0) if "output.weight" in names else 0
