#!/usr/bin/env python3
"""Measure a MoE GGUF's routing with stock llama.cpp: what caching and prefetch can hope for.

    pip install llama-cpp-python numpy
    routing_stats.py MODEL.gguf [--tokens 200] [--prompt TEXT]

Decodes greedily and, through llama.cpp's public evaluation callback, records every layer's
selected experts and the (normalised) hidden state in front of its router. Prints:

* recall, the share of a layer's selected experts among the top-k that its own router gives
  when applied 1, 2 or 3 layers early (the router weights are read from the file), and the
  recall of "same experts as the previous token";
* hit rate of a per-layer LRU cache that holds 6, 12, 25 and 50 % of the experts.

It shares no code with any engine, so its figures can check an engine's telemetry.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import re

import gguf
import llama_cpp
import numpy as np


class Tensor(ctypes.Structure):
    """What `llama_cpp` hands to the evaluation callback."""

    # the head of struct ggml_tensor (public header ggml.h)
    _fields_ = [
        ("type", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("ne", ctypes.c_int64 * 4),
        ("nb", ctypes.c_size_t * 4),
        ("op", ctypes.c_int),
        ("op_params", ctypes.c_int32 * 16),
        ("flags", ctypes.c_int32),
        ("src", ctypes.c_void_p * 10),
        ("view_src", ctypes.c_void_p),
        ("view_offs", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("name", ctypes.c_char * 64),
    ]


def main() -> None:
    """Decodes with the callback on, then prints recall and hit rates."""
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("model")
    ap.add_argument("--tokens", type=int, default=200)
    ap.add_argument("--prompt", default="Tell me a story about a fox.")
    ap.add_argument("--threads", type=int, default=2)
    a = ap.parse_args()
    reader = gguf.GGUFReader(a.model)
    router = {}
    norm = {}
    for t in reader.tensors:
        if t.name.endswith("ffn_gate_inp.weight"):
            router[int(t.name.split(".")[1])] = np.array(t.data, dtype=np.float32)
        elif t.name.endswith("ffn_norm.weight"):
            norm[int(t.name.split(".")[1])] = np.array(t.data, dtype=np.float32)
    layers = sorted(router)
    hidden: dict[int, np.ndarray] = {}
    chosen: dict[int, list[np.ndarray]] = collections.defaultdict(list)
    recall = {d: [] for d in (1, 2, 3)}
    repeat: list[float] = []

    def floats(t: Tensor, n: int) -> np.ndarray:
        return np.ctypeslib.as_array(ctypes.cast(t.data, ctypes.POINTER(ctypes.c_float)), (n,)).copy()

    @llama_cpp.ggml_backend_sched_eval_callback
    def callback(ptr, ask, _):
        t = ctypes.cast(ptr, ctypes.POINTER(Tensor)).contents
        match = re.fullmatch(r"(ffn_norm|ffn_moe_topk)-(\d+)", t.name.decode())
        if ask or not match:
            return bool(match) or not ask
        layer = int(match[2])
        if t.ne[1] != 1:
            return True
        if match[1] == "ffn_norm":
            hidden[layer] = floats(t, t.ne[0]) / norm[layer]
        else:
            k = t.ne[0]
            ids = np.ctypeslib.as_array(ctypes.cast(t.data, ctypes.POINTER(ctypes.c_int32)), (k,)).copy()
            if chosen[layer]:
                repeat.append(len(set(ids) & set(chosen[layer][-1])) / k)
            chosen[layer].append(ids)
            for d in recall:
                if layer - d in hidden:
                    guess = np.argpartition(-(router[layer] @ (hidden[layer - d] * norm[layer])), k)[:k]
                    recall[d].append(len(set(ids) & set(guess)) / k)
        return True

    quiet = llama_cpp.llama_log_callback(lambda *_: None)  # kept alive: llama.cpp holds a bare pointer
    llama_cpp.llama_log_set(quiet, None)
    llama_cpp.llama_backend_init()
    mp = llama_cpp.llama_model_default_params()
    mp.n_gpu_layers = 0
    mp.use_extra_bufts = False  # ggml's AMX path crashed on the virtual machine this was written on
    model = llama_cpp.llama_model_load_from_file(a.model.encode(), mp)
    cp = llama_cpp.llama_context_default_params()
    cp.n_ctx, cp.n_threads, cp.n_threads_batch = 2048, a.threads, a.threads
    cp.cb_eval = callback
    ctx = llama_cpp.llama_init_from_model(model, cp)
    vocab = llama_cpp.llama_model_get_vocab(model)
    n_vocab = llama_cpp.llama_vocab_n_tokens(vocab)
    text = a.prompt.encode()
    buf = (ctypes.c_int32 * 512)()
    n = llama_cpp.llama_tokenize(vocab, text, len(text), buf, 512, True, True)
    tokens = list(buf[:n])
    said: list[int] = []
    for _ in range(a.tokens):
        arr = (ctypes.c_int32 * len(tokens))(*tokens)
        assert llama_cpp.llama_decode(ctx, llama_cpp.llama_batch_get_one(arr, len(tokens))) == 0
        logits = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(ctx, -1), (n_vocab,))
        tokens = [int(logits.argmax())]
        said.append(tokens[0])
    k = len(chosen[layers[0]][0])
    n_expert = len(router[layers[0]])
    print(f"{len(set(said))} distinct tokens of {len(said)} said")
    print(f"{len(layers)} MoE layers, top-{k} of {n_expert}, {len(chosen[layers[0]])} decoded tokens")
    print(
        "recall of the router applied early: "
        + ", ".join(f"{d} ahead {np.mean(v):.3f}" for d, v in recall.items())
        + f"; previous token {np.mean(repeat):.3f}"
    )
    for share in (0.06, 0.12, 0.25, 0.5):
        slots = max(k, round(n_expert * share))
        hits = total = 0
        for layer in layers:
            cache: collections.OrderedDict[int, None] = collections.OrderedDict()
            for i, ids in enumerate(chosen[layer]):
                for e in map(int, ids):
                    if i >= 20:
                        hits += e in cache
                        total += 1
                    cache[e] = None
                    cache.move_to_end(e)
                    if len(cache) > slots:
                        cache.popitem(last=False)
        print(f"per-layer LRU holding {share:4.0%} of the experts ({slots} slots): hit rate {hits / max(total, 1):.3f}")


if __name__ == "__main__":
    main()
