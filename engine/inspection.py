"""What a model's files say, and how the model would run in this machine's memory: figures and plain words.

Reads headers only, so it takes the same moment for a model of any size.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.gguf import ModelFiles
from engine.memory import MemoryAvailable, MemoryPlan, SizingSettings, kv_bytes_per_token, plan_memory
from engine.sizes import format_bytes


@dataclass(frozen=True)
class Inspection:
    """The facts, sizes in bytes.

    Attributes:
        name, architecture, paths, total_bytes: as in `ModelFiles`.
        n_weights: how many numbers the model consists of.
        type_bytes: bytes by type of tensor, the largest first.
        n_layer, n_expert_layer: blocks, and those of them with routed experts.
        n_expert, n_expert_used: experts per layer, and how many work on a token.
        smallest_expert_bytes, largest_expert_bytes: one expert with all its projections; 0 without experts.
        context_length: tokens the model was made for; 0 if the file does not say.
        kv_bytes_per_token: memory for each token of conversation.
        has_chat_template: whether it was made to answer, and says how to be asked.
        plan: how memory would be divided here.
    """

    name: str
    architecture: str
    paths: tuple[str, ...]
    total_bytes: int
    n_weights: int
    type_bytes: dict[str, int]
    n_layer: int
    n_expert_layer: int
    n_expert: int
    n_expert_used: int
    smallest_expert_bytes: int
    largest_expert_bytes: int
    context_length: int
    kv_bytes_per_token: int
    has_chat_template: bool
    plan: MemoryPlan

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON types, with the figures of the plan that belong to the model itself beside them."""
        return dataclasses.asdict(self) | {
            "quantization": self.quantization,
            "always_bytes": self.plan.always_bytes,
            "expert_bytes": self.plan.expert_bytes,
            "token_bytes": self.plan.token_bytes,
            "cached_share": self.plan.cached_share,
        }

    @property
    def quantization(self) -> str:
        """The type that most of the weights have."""
        return next(iter(self.type_bytes), "")


def inspect_model(files: ModelFiles, settings: SizingSettings, available: MemoryAvailable) -> Inspection:
    """Gather the facts."""
    sizes: Counter[str] = Counter()
    for tensor in files.tensors:
        sizes[tensor.ggml_type.name] += tensor.nbytes
    experts = _expert_bytes_by_layer(files)
    return Inspection(
        name=files.name,
        architecture=files.architecture,
        paths=tuple(str(path) for path in files.paths),
        total_bytes=files.total_bytes,
        n_weights=sum(tensor.n_weights for tensor in files.tensors),
        type_bytes=dict(sizes.most_common()),
        n_layer=files.n_layer,
        n_expert_layer=len(experts),
        n_expert=files.n_expert,
        n_expert_used=files.n_expert_used,
        smallest_expert_bytes=min(experts, default=0),
        largest_expert_bytes=max(experts, default=0),
        context_length=files.context_length,
        kv_bytes_per_token=kv_bytes_per_token(files),
        has_chat_template=files.chat_template is not None,
        plan=plan_memory(files, settings, available),
    )


def _expert_bytes_by_layer(files: ModelFiles) -> list[int]:
    """Bytes of one expert in each layer that has routed experts."""
    sizes: dict[int, int] = defaultdict(int)
    for expert in files.experts():
        if files.is_loaded(expert.tensor) and not expert.chunked:
            sizes[expert.layer] += expert.bytes_per_expert
    return list(sizes.values())


def describe(facts: Inspection) -> list[tuple[str, str]]:
    """The facts in plain words: a label and a sentence each."""
    return list(_sentences(facts))


def _sentences(facts: Inspection) -> Iterator[tuple[str, str]]:
    parts = "" if len(facts.paths) == 1 else f" in {len(facts.paths)} files"
    yield "Model", f"{facts.name} ({facts.architecture}), {format_bytes(facts.total_bytes)}{parts}"
    yield "Weights", _weights(facts)
    if facts.n_expert_layer:
        yield "Layers", _layers(facts)
        yield "Always used", f"{format_bytes(facts.plan.always_bytes)} work on every token and stay in memory"
        yield "Experts", _experts(facts)
        yield (
            "One token",
            f"reads {format_bytes(facts.plan.token_bytes)} at worst, when none of its experts is in memory",
        )
    else:
        yield "Layers", f"{facts.n_layer}, without experts: every weight works on every token"
    yield "Context", _context(facts)
    chat = "answers messages (it brings a chat template)" if facts.has_chat_template else "continues text (no template)"
    yield "Chat", chat
    yield "Here", _here(facts.plan)
    for note in facts.plan.notes:
        yield "Note", note


def _weights(facts: Inspection) -> str:
    total = sum(facts.type_bytes.values())
    shares = [f"{nbytes / total:.0%} {name}" for name, nbytes in facts.type_bytes.items() if nbytes / total >= 0.005]
    bits = total * 8 / facts.n_weights
    return f"{_count(facts.n_weights)}, {bits:.1f} bits each on average; stored as {', '.join(shares)}"


def _layers(facts: Inspection) -> str:
    some = "each" if facts.n_expert_layer == facts.n_layer else f"{facts.n_expert_layer} of them"
    return (
        f"{facts.n_layer}; in {some} a router picks {facts.n_expert_used} of {facts.n_expert} experts for every token"
    )


def _experts(facts: Inspection) -> str:
    low, high = format_bytes(facts.smallest_expert_bytes), format_bytes(facts.largest_expert_bytes)
    each = low if low == high else f"{low} to {high}"
    return f"{format_bytes(facts.plan.expert_bytes)} together, {each} each"


def _context(facts: Inspection) -> str:
    most = f"up to {facts.context_length:,} tokens; " if facts.context_length else ""
    return f"{most}1,000 tokens of conversation take {format_bytes(1000 * facts.kv_bytes_per_token)} of memory"


def _here(plan: MemoryPlan) -> str:
    free = f"{format_bytes(plan.available_bytes)} of memory are free"
    if not plan.streaming:
        fits = plan.fixed_bytes + plan.expert_bytes <= plan.available_bytes
        return f"{free}: {'the whole model fits' if fits else 'the model does not fit, and has no experts to stream'}"
    return (
        f"{free}: a cache of {format_bytes(plan.cache_bytes)} holds {plan.cached_share:.0%} of the experts, "
        "the others are read from the drive when they are needed"
    )


def _count(number: int) -> str:
    for unit, size in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:,}"
