"""How much memory a conversation takes: the KV cache and, in models that have them, recurrent states.

Follows what llama.cpp allocates (`llama-kv-cache.cpp`, `llama-memory-recurrent.cpp`, `llama-hparams.cpp`) with f16 keys
and values and full-size sliding windows, its defaults. Where the metadata leave a doubt, the larger figure counts.
"""

from __future__ import annotations

from engine.gguf.files import ModelFiles

_F16_BYTES = 2
_F32_BYTES = 4
CONTEXT_STEP = 256  # llama.cpp rounds the context up to this


def kv_bytes(files: ModelFiles, n_ctx: int) -> int:
    """Bytes that a context of `n_ctx` tokens takes."""
    return kv_bytes_per_token(files) * padded_context(n_ctx) + state_bytes(files)


def padded_context(n_ctx: int) -> int:
    """The context llama.cpp makes for `n_ctx` tokens."""
    return -(-n_ctx // CONTEXT_STEP) * CONTEXT_STEP


def kv_bytes_per_token(files: ModelFiles) -> int:
    """Bytes that each token of context takes in all layers that attend."""
    key, value = _head_lengths(files)
    heads = _heads_kv(files)
    return sum(heads[layer] for layer in _attending_layers(files)) * (key + value) * _F16_BYTES


def state_bytes(files: ModelFiles) -> int:
    """Bytes of the states of layers that do not attend (Mamba, RWKV, linear attention), whatever the context."""
    n_recurrent = files.n_layer if _is_rwkv(files) or _all_recurrent(files) else _recurrent_layers(files)
    return n_recurrent * _state_floats(files) * _F32_BYTES


def _head_lengths(files: ModelFiles) -> tuple[int, int]:
    """Lengths of one head's key and of its value, as cached."""
    by_default = files.n_embd // max(1, files.number("attention.head_count", 1))
    key = max(files.number("attention.key_length", by_default), files.number("attention.key_length_swa"))
    value = max(files.number("attention.value_length", by_default), files.number("attention.value_length_swa"))
    if files.number("attention.key_length_mla") and files.number("attention.value_length_mla"):
        return key, 0  # multi-head latent attention: the value is a part of the key
    return key, value


def _heads_kv(files: ModelFiles) -> list[int]:
    """Heads with keys and values, for each layer."""
    heads = files.per_layer("attention.head_count_kv") or files.per_layer("attention.head_count") or (0,)
    if len(heads) < files.n_layer:
        heads += (max(heads),) * (files.n_layer - len(heads))
    return list(heads)


def _attending_layers(files: ModelFiles) -> list[int]:
    if _is_rwkv(files):
        return []
    recurrent = files.per_layer("attention.recurrent_layers")
    if len(recurrent) >= files.n_layer:
        return [layer for layer in range(files.n_layer) if not recurrent[layer]]
    interval = files.number("full_attention_interval")
    if interval > 1:
        return [layer for layer in range(files.n_layer) if (layer + 1) % interval == 0]
    return list(range(files.n_layer))


def _recurrent_layers(files: ModelFiles) -> int:
    heads = _heads_kv(files)
    return files.n_layer - sum(1 for layer in _attending_layers(files) if heads[layer])


def _is_rwkv(files: ModelFiles) -> bool:
    return files.number("wkv.head_size") > 0


def _all_recurrent(files: ModelFiles) -> bool:
    # Falcon-H1 has both in each layer; for others with one number of heads and no pattern this is the larger figure.
    return len(files.per_layer("attention.head_count_kv")) <= 1 and not files.number("full_attention_interval")


def _state_floats(files: ModelFiles) -> int:
    """Numbers in one layer's state: of the convolution and of the recurrence."""
    if _is_rwkv(files):
        return files.n_embd * (max(2, files.number("token_shift_count")) + files.number("wkv.head_size"))
    heads = files.number("attention.head_count")
    kernel, inner = files.number("ssm.conv_kernel"), files.number("ssm.inner_size")
    state, groups = files.number("ssm.state_size"), files.number("ssm.group_count")
    mamba = max(0, kernel - 1) * (inner + 2 * groups * state) + state * inner
    head = files.number("kda.head_dim")
    kda = 3 * max(3, kernel - 1) * heads * head + heads * head * head
    short_convolution = files.n_embd * max(0, files.number("shortconv.l_cache") - 1)
    return max(mamba, kda, short_convolution)
