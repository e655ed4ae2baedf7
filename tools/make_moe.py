#!/usr/bin/env python3
"""Write a synthetic mixture-of-experts GGUF at a real model's shapes, in constant memory.

    pip install gguf numpy
    make_moe.py --preset 30b-a3b big.gguf        # 17 GB, the shapes of Qwen3-30B-A3B at Q4_K
    make_moe.py --preset 7b-a1b  mid.gguf        # 3.9 GB, the shapes of OLMoE-1B-7B
    make_moe.py --preset tiny    tiny.gguf       # a few MB, for a quick look

The file is an ordinary qwen3moe GGUF with a byte-level BPE tokenizer, so stock llama.cpp
and every program built on it load it. The text it writes is noise, but its routing is not:

* token embeddings share a mean (some experts are popular everywhere) and a topic
  (what a stretch of text uses, it keeps using);
* the head maps each token to a fixed successor of the same topic, so greedy decoding
  walks through one topic's vocabulary, the same walk in every engine;
* expert and attention outputs are small beside the residual stream, so a later layer's
  router applied early predicts well, as in trained models.

`routing_stats.py` measures what came out.
"""

from __future__ import annotations

import argparse

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q

PRESETS = {  # layers, embd, expert ff, experts, top-k, heads, kv heads, head dim, vocab
    "tiny": (8, 256, 256, 32, 4, 4, 2, 64, 2048),
    "7b-a1b": (16, 2048, 1024, 64, 8, 16, 16, 128, 32000),
    "30b-a3b": (48, 2048, 768, 128, 8, 32, 4, 128, 32000),
}
TOPICS = 64


def byte_alphabet() -> list[str]:
    """The 256 printable stand-ins for bytes that byte-level BPE vocabularies use."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in keep]
    table = {b: chr(b) for b in keep} | {b: chr(256 + i) for i, b in enumerate(rest)}
    return [table[b] for b in range(256)]


def add_tokenizer(w: gguf.GGUFWriter, vocab: int) -> None:
    """A byte-level BPE vocabulary of `vocab` tokens, with merges, special tokens and a ChatML template."""
    alphabet = byte_alphabet()
    letters = "abcdefghijklmnopqrstuvwxyz"
    merges, words = [], []
    for a in letters:
        for b in letters:
            merges.append(f"{a} {b}")
            words.append(a + b)
    tokens = alphabet + words
    i = 0
    while len(tokens) < vocab - 3:  # filler words, each reached by one merge of two pairs
        a, b = words[i // 676 % 676], words[i % 676]
        merges.append(f"{a} {b}")
        tokens.append(a + b)
        i += 1
    tokens = [*tokens[: vocab - 3], "<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    known = set(tokens)
    merges = [m for m in merges if m.replace(" ", "") in known]
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(tokens)
    w.add_token_types([gguf.TokenType.NORMAL] * (vocab - 3) + [gguf.TokenType.CONTROL] * 3)
    w.add_token_merges(merges)
    w.add_eos_token_id(vocab - 1)
    w.add_add_bos_token(False)
    w.add_chat_template(
        "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    )


def normal(shape, scale: float, seed: int) -> np.ndarray:
    """Normal noise of standard deviation `scale`, float32."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32) * np.float32(scale)


class Blocks:
    """Random but well-formed Q4_K and Q6_K rows whose products with unit vectors have a given size."""

    def __init__(self) -> None:
        self.noise = np.random.default_rng(0).integers(0, 256, 48 << 20, dtype=np.uint8)

    def _bytes(self, n: int, seed: int) -> np.ndarray:
        start = seed * 7919 * 4096 % (len(self.noise) // 2)
        return (
            np.resize(np.roll(self.noise, -start), n)
            if n > len(self.noise) - start
            else self.noise[start : start + n].copy()
        )

    def rows(self, kind: Q, rows: int, cols: int, gain: float, seed: int) -> np.ndarray:
        """Quantized rows (uint8, rows x bytes of a row) whose product with a unit vector is about `gain`."""
        nb = cols // 256
        r = np.random.default_rng(seed)
        d = (0.5 + r.random((rows, nb), dtype=np.float32)) * np.float32(gain / np.sqrt(cols))
        if kind == Q.Q4_K:  # d, dmin, 12 bytes of 6-bit scales and mins, 128 bytes of nibbles
            b = self._bytes(rows * nb * 144, seed).reshape(rows, nb, 144)
            b[..., 4:12], b[..., 12:16] = 0x5B, 0xBB  # all scales and mins 27: rows of mean zero
            d /= 27 * 4.6
            b[..., 0:2] = d.astype(np.float16)[..., None].view(np.uint8)
            b[..., 2:4] = (d * 7.5).astype(np.float16)[..., None].view(np.uint8)
        else:  # Q6_K: 128 low nibbles, 64 high bits, 16 int8 scales, d
            b = self._bytes(rows * nb * 210, seed).reshape(rows, nb, 210)
            b[..., 192:208] = (20 + (b[..., 192:208] & 15)).astype(np.uint8)
            b[..., 208:210] = (d / (27 * 18.5)).astype(np.float16)[..., None].view(np.uint8)
        return b.reshape(rows, -1)


def main() -> None:
    """Plans every tensor, writes the header, then makes and writes one tensor at a time."""
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--preset", choices=PRESETS, default="30b-a3b")
    ap.add_argument("--layers", type=int, help="fewer or more layers than the preset")
    ap.add_argument(
        "--mixed", action="store_true", help="down projections of every fourth layer at Q6_K, as Q4_K_M files have"
    )
    ap.add_argument("--mean", type=float, default=MEAN, help="weight of the shared mean in the embeddings")
    ap.add_argument("--topic", type=float, default=TOPIC, help="weight of the topic")
    ap.add_argument("--word", type=float, default=WORD, help="weight of what is the token's own")
    ap.add_argument("--update", type=float, default=UPDATE, help="size of a layer's outputs beside the residual stream")
    a = ap.parse_args()
    layers, E, ff, N, K, H, KV, HD, V = PRESETS[a.preset]
    layers = a.layers or layers
    w = gguf.GGUFWriter(a.out, "qwen3moe")
    w.add_name(f"synthetic-{a.preset}")
    w.add_block_count(layers)
    w.add_context_length(32768)
    w.add_embedding_length(E)
    w.add_feed_forward_length(ff)
    w.add_expert_feed_forward_length(ff)
    w.add_expert_count(N)
    w.add_expert_used_count(K)
    w.add_head_count(H)
    w.add_head_count_kv(KV)
    w.add_key_length(HD)
    w.add_value_length(HD)
    w.add_rope_freq_base(1e6)
    w.add_layer_norm_rms_eps(1e-6)
    w.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    add_tokenizer(w, V)

    blocks = Blocks()
    plan: list[tuple[str, tuple[int, ...], Q, object]] = []

    def words() -> np.ndarray:
        return normal((V, E), a.word, 97)

    def embeddings() -> np.ndarray:
        mean, topics = normal(E, a.mean, 99), normal((TOPICS, E), a.topic, 98)
        return (words() + topics[np.arange(V) % TOPICS] + mean).astype(np.float16)

    def head() -> np.ndarray:  # row v answers to the token before v in its topic
        n = V // TOPICS * TOPICS
        before = np.arange(V)
        before[:n] = (np.arange(n) - TOPICS) % n
        return (words()[before] / (a.word * np.sqrt(E))).astype(np.float16)

    plan.append(("token_embd.weight", (V, E), Q.F16, embeddings))
    plan.append(("output.weight", (V, E), Q.F16, head))
    plan.append(("output_norm.weight", (E,), Q.F32, lambda: np.ones(E, np.float32)))
    for i in range(layers):
        p, s = f"blk.{i}.", 1000 * (i + 1)
        for name, n in (("attn_norm", E), ("ffn_norm", E), ("attn_q_norm", HD), ("attn_k_norm", HD)):
            plan.append((f"{p}{name}.weight", (n,), Q.F32, lambda n=n: np.ones(n, np.float32)))
        for j, (name, rows, cols, gain) in enumerate(
            (
                ("attn_q", H * HD, E, 1),
                ("attn_k", KV * HD, E, 1),
                ("attn_v", KV * HD, E, 1),
                ("attn_output", E, H * HD, a.update),
            )
        ):
            plan.append(
                (
                    f"{p}{name}.weight",
                    (rows, cols),
                    Q.Q4_K,
                    lambda rows=rows, cols=cols, gain=gain, s=s + j: blocks.rows(Q.Q4_K, rows, cols, gain, s),
                )
            )
        plan.append((f"{p}ffn_gate_inp.weight", (N, E), Q.F32, lambda s=s: normal((N, E), 1 / np.sqrt(E), s + 5)))
        down = Q.Q6_K if a.mixed and i % 4 == 3 else Q.Q4_K
        for j, (name, rows, cols, gain, kind) in enumerate(
            (
                ("ffn_gate_exps", ff, E, 1, Q.Q4_K),
                ("ffn_up_exps", ff, E, 1, Q.Q4_K),
                ("ffn_down_exps", E, ff, 2.5 * a.update, down),
            )
        ):
            plan.append(
                (
                    f"{p}{name}.weight",
                    (N, rows, cols),
                    kind,
                    lambda rows=rows, cols=cols, gain=gain, kind=kind, s=s + 6 + j: blocks.rows(
                        kind, N * rows, cols, gain, s
                    ).reshape(N, rows, -1),
                )
            )
    for name, shape, kind, _ in plan:
        if kind in (Q.Q4_K, Q.Q6_K):
            size = shape[-1] // 256 * (144 if kind == Q.Q4_K else 210)
            w.add_tensor_info(
                name, (*shape[:-1], size), np.dtype(np.uint8), int(np.prod(shape[:-1])) * size, raw_dtype=kind
            )
        else:
            dtype = np.dtype(np.float16 if kind == Q.F16 else np.float32)
            w.add_tensor_info(name, shape, dtype, int(np.prod(shape)) * dtype.itemsize)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_ti_data_to_file()
    for *_, make in plan:
        w.write_tensor_data(make())
    w.close()


MEAN, TOPIC, WORD, UPDATE = 0.5, 0.6, 0.7, 0.35

if __name__ == "__main__":
    main()
