"""How memory is divided between what a model always needs, the conversation and cached experts. Pure arithmetic.

Nothing is refused: where memory is short, the cache shrinks to one layer's experts, and a note says what that means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from engine.gguf.experts import is_expert
from engine.gguf.files import ModelFiles
from engine.memory.available import MemoryAvailable
from engine.memory.kv_cache import kv_bytes, padded_context
from engine.sizes import format_bytes

_F32_BYTES = 4
_F16_BYTES = 2

# Positions of one prompt batch whose logits may be asked for. llama.cpp reserves memory for a full vocabulary at each:
# for all of a batch of 2,048 that is more than a gigabyte. An answer asks for one.
MAX_OUTPUTS = 64


class SizingSettings(Protocol):
    """The settings that the division depends on; `engine.settings.EngineSettings` has them."""

    @property
    def cache_bytes(self) -> int | None:
        """Wanted memory for experts; None: what is left."""

    @property
    def headroom_bytes(self) -> int:
        """Memory to leave free."""

    @property
    def context_length(self) -> int:
        """Tokens of context."""

    @property
    def ubatch(self) -> int:
        """Prompt tokens computed together."""

    @property
    def flash_attention(self) -> bool:
        """Whether attention is computed without a score for each token of context."""

    @property
    def plain(self) -> bool:
        """Whether streaming is switched off."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What goes where, in bytes.

    Attributes:
        available_bytes: what was free.
        always_bytes: weights that every token uses.
        expert_bytes: all routed experts.
        kv_bytes: the conversation at the full context.
        compute_bytes: buffers for intermediate results (an estimate).
        headroom_bytes: left free.
        layer_bytes: experts that one token needs in the layer that needs most: the least a cache can be.
        token_bytes: experts that one token needs in all layers: what it reads at worst.
        cache_bytes: memory for experts.
        streaming: whether experts are read from the drive as needed; False is llama.cpp's plain way.
        notes: one plain line for each thing that was decided or that a user should know.
    """

    available_bytes: int
    always_bytes: int
    expert_bytes: int
    kv_bytes: int
    compute_bytes: int
    headroom_bytes: int
    layer_bytes: int
    token_bytes: int
    cache_bytes: int
    streaming: bool
    notes: tuple[str, ...]

    @property
    def fixed_bytes(self) -> int:
        """Everything but experts."""
        return self.always_bytes + self.kv_bytes + self.compute_bytes + self.headroom_bytes

    @property
    def cached_share(self) -> float:
        """The share of all experts that the cache holds, 0 to 1."""
        return min(1.0, self.cache_bytes / self.expert_bytes) if self.expert_bytes else 1.0


def plan_memory(files: ModelFiles, settings: SizingSettings, available: MemoryAvailable) -> MemoryPlan:
    """Divide the available memory for a model under the settings."""
    n_ctx = min(settings.context_length, files.context_length or settings.context_length)
    always, experts = weight_bytes(files)
    layer, token = working_sets(files)
    kv = kv_bytes(files, n_ctx)
    compute = compute_bytes(files, settings.ubatch, n_ctx, settings.flash_attention)
    left = available.available_bytes - always - kv - compute - settings.headroom_bytes
    plain = settings.plain or not experts or (settings.cache_bytes is None and left >= experts)
    wanted = left if settings.cache_bytes is None else settings.cache_bytes
    cache = experts if plain else max(layer, min(wanted, experts))
    plan = MemoryPlan(
        available_bytes=available.available_bytes,
        always_bytes=always,
        expert_bytes=experts,
        kv_bytes=kv,
        compute_bytes=compute,
        headroom_bytes=settings.headroom_bytes,
        layer_bytes=layer,
        token_bytes=token,
        cache_bytes=cache,
        streaming=not plain,
        notes=(),
    )
    return _with_notes(plan, settings, available)


def weight_bytes(files: ModelFiles) -> tuple[int, int]:
    """Bytes of the loaded weights that every token uses, and of the routed experts."""
    always = experts = 0
    for tensor in files.tensors:
        if not files.is_loaded(tensor):
            continue
        if is_expert(tensor.name):
            experts += tensor.nbytes
        else:
            always += tensor.nbytes
    return always, experts


def working_sets(files: ModelFiles) -> tuple[int, int]:
    """Bytes of the experts that one token uses: in the layer with the largest, and in all layers."""
    used = files.per_layer("expert_used_count")
    sets: dict[int, int] = defaultdict(int)
    for expert in files.experts():
        if files.is_loaded(expert.tensor):
            count = used[expert.layer] if len(used) > expert.layer else files.n_expert_used
            sets[expert.layer] += min(count, expert.n_expert) * expert.bytes_per_expert
    return max(sets.values(), default=0), sum(sets.values())


def compute_bytes(files: ModelFiles, ubatch: int, n_ctx: int, flash_attention: bool = True) -> int:
    """An estimate of llama.cpp's buffers for intermediate results, a little on the large side.

    ggml reuses a buffer once its content is used up, so the largest stage of a layer counts: the logits, the attention
    or the experts' products, each beside a few activations; and the attention mask. Measured against llama.cpp: 1.0
    to 1.2 times what it allocates.
    """
    heads = max(1, files.number("attention.head_count"))
    head_length = max(files.number("attention.key_length"), files.n_embd // heads)
    n_cells = padded_context(n_ctx)
    attention = 4 * heads * head_length + 4 * files.n_embd + (0 if flash_attention else heads * n_cells)
    experts = files.n_expert_used * (files.n_embd + 2 * _expert_width(files))
    products = max(experts, files.n_embd + 2 * files.number("feed_forward_length")) + 4 * files.n_embd
    n_masks = 2 if files.number("attention.sliding_window") else 1
    mask = n_masks * n_cells * (_F16_BYTES if flash_attention else _F32_BYTES)
    logits = files.n_vocab * min(ubatch, MAX_OUTPUTS)
    return _F32_BYTES * max(logits, ubatch * attention, ubatch * products) + ubatch * mask


def _expert_width(files: ModelFiles) -> int:
    """How many numbers an expert's first step yields, from the tensors: not all metadata say it."""
    rows = {"gate": 1.0, "up": 1.0, "gate_up": 0.5, "down": 0.0}
    return max((int(expert.rows * rows[expert.projection]) for expert in files.experts()), default=0)


def _with_notes(plan: MemoryPlan, settings: SizingSettings, available: MemoryAvailable) -> MemoryPlan:
    return replace(plan, notes=tuple(_notes(plan, settings, available)))


def _notes(plan: MemoryPlan, settings: SizingSettings, available: MemoryAvailable) -> Iterator[str]:
    needed = plan.fixed_bytes - plan.headroom_bytes + plan.cache_bytes
    cache = format_bytes(plan.cache_bytes)
    if needed > plan.available_bytes:
        limit = "" if available.limit_bytes is None else f" within the limit of {format_bytes(available.limit_bytes)}"
        yield (
            f"{format_bytes(needed)} of memory are needed and {format_bytes(plan.available_bytes)} are free{limit}: "
            "it will be slow; close other programs or choose a shorter context"
        )
    if not plan.streaming:
        return
    if settings.cache_bytes is not None and settings.cache_bytes < plan.layer_bytes:
        yield f"the expert cache was raised to {cache}, the experts of one layer, the least that works"
    if plan.cache_bytes < plan.token_bytes:
        yield (
            f"the expert cache ({cache}) is smaller than what one token uses ({format_bytes(plan.token_bytes)}): "
            "most experts are read from the drive for every token"
        )
