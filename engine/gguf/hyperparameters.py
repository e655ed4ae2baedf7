"""Metadata on which llama.cpp asserts: a value outside its bounds would end the whole program instead of the load.

The asserts are in `llama_model_base::load_hparams`, `llama-graph.cpp` and ggml's kernels for norms and RoPE; each check
here was found by feeding damaged files to the stock library.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import one_line
from engine.gguf.files import ModelFiles

MAX_LAYERS = 512  # LLAMA_MAX_LAYERS
MAX_EXPERTS = 1024  # LLAMA_MAX_EXPERTS
MAX_GATING_FUNCTION = 4  # llama_expert_gating_func_type
ROPE_SCALINGS = ("none", "linear", "yarn", "longrope")


def hyperparameter_problems(files: ModelFiles) -> Iterator[str]:
    """What is wrong with the architecture's numbers, each as the rest of a line that begins with the file's name."""
    yield from _layers(files)
    yield from _norms(files)
    yield from _rope(files)
    yield from _latent_attention(files)
    yield from _expert_counts(files)
    yield from _expert_groups(files)


def _layers(files: ModelFiles) -> Iterator[str]:
    blocks = files.number("block_count")
    if not 0 < blocks <= MAX_LAYERS:
        yield f"metadata {files.architecture}.block_count is {blocks}, not 1 to {MAX_LAYERS}; the file is damaged"
    if not 0 <= files.number("nextn_predict_layers") <= blocks:
        yield f"metadata {files.architecture}.nextn_predict_layers is not 0 to {blocks}; the file is damaged"
    if files.n_embd <= 0:
        yield f"metadata {files.architecture}.embedding_length is missing or not positive; the file is damaged"


def _norms(files: ModelFiles) -> Iterator[str]:
    """What norms add before they divide."""
    for key, value in files.metadata.items():
        if key.endswith("epsilon") and isinstance(value, float) and not value >= 0:
            yield f"metadata {one_line(key)} is {value}, which must not be negative; the file is damaged"


def _rope(files: ModelFiles) -> Iterator[str]:
    scaling = files.metadata.get(f"{files.architecture}.rope.scaling.type", "none")
    if isinstance(scaling, str) and scaling not in ROPE_SCALINGS:
        yield f"metadata {files.architecture}.rope.scaling.type is {one_line(scaling)!r}, which llama.cpp does not know"


def _latent_attention(files: ModelFiles) -> Iterator[str]:
    """Multi-head latent attention: all heads share one key, made of the compressed part and the turned one."""
    whole, rank = files.number("attention.key_length_mla"), files.number("attention.kv_lora_rank")
    if not whole or not rank:
        return
    turned, key = files.number("rope.dimension_count"), files.number("attention.key_length")
    if turned >= whole or key != rank + turned or files.number("attention.head_count_kv") > 1:
        yield f"metadata {files.architecture}.attention.* does not describe one latent key; the file is damaged"


def _expert_counts(files: ModelFiles) -> Iterator[str]:
    if not 0 <= files.n_expert <= MAX_EXPERTS or min(files.per_layer("expert_used_count"), default=0) < 0:
        yield f"metadata {files.architecture}.expert_count is {files.n_expert}, not 0 to {MAX_EXPERTS}; damaged file"
    if files.n_expert_used > files.n_expert or (files.n_expert and not files.n_expert_used):
        yield (
            f"metadata says {files.n_expert_used} experts of {files.n_expert} work on a token, which cannot be; "
            "the file is damaged or badly converted, take another file"
        )
    gating = files.number("expert_gating_func")
    if not 0 <= gating <= MAX_GATING_FUNCTION:
        yield f"metadata {files.architecture}.expert_gating_func is {gating}, which llama.cpp does not know"


def _expert_groups(files: ModelFiles) -> Iterator[str]:
    groups, used = files.number("expert_group_count"), files.number("expert_group_used_count")
    if groups == 0 or groups == 1 < files.n_expert:
        return
    if not 0 < used < groups < files.n_expert or files.n_expert % groups:
        yield f"metadata says {files.n_expert} experts in {groups} groups, {used} used, which cannot be; damaged file"
