"""Train the demo mixture-of-experts model and write it as a qwen3moe GGUF.

    pip install torch tokenizers gguf numpy
    python train.py --minutes 60 --out demo-moe

Writes OUT.pt while training and, at the end (or with --export-only), OUT-F32.gguf.
Quantize that file with llama.cpp's own quantizer (llama_model_quantize) afterwards.
Architecture: Qwen3-MoE (RMS norm, grouped-query attention with q/k norm, NEOX rope,
SwiGLU experts, softmax router, top-k weights renormalised), tied embeddings.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import time

import corpus
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

D, LAYERS, HEADS, KV, HD, EXPERTS, TOPK, FF, VOCAB, CTX = 256, 8, 4, 2, 64, 32, 4, 256, 2048, 1024
ROPE_BASE, EPS = 10000.0, 1e-6
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class RMS(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        x32 = x.float()
        return (x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + EPS)).to(x.dtype) * self.weight.to(x.dtype)


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(D, HEADS * HD, bias=False)
        self.k = nn.Linear(D, KV * HD, bias=False)
        self.v = nn.Linear(D, KV * HD, bias=False)
        self.o = nn.Linear(HEADS * HD, D, bias=False)
        self.qn, self.kn = RMS(HD), RMS(HD)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q = rope(self.qn(self.q(x).view(b, t, HEADS, HD)).transpose(1, 2), cos, sin)
        k = rope(self.kn(self.k(x).view(b, t, KV, HD)).transpose(1, 2), cos, sin)
        v = self.v(x).view(b, t, KV, HD).transpose(1, 2)
        k, v = k.repeat_interleave(HEADS // KV, 1), v.repeat_interleave(HEADS // KV, 1)
        y = F.scaled_dot_product_attention(q, k, v.to(q.dtype), is_causal=True)
        return self.o(y.transpose(1, 2).reshape(b, t, -1))


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(D, EXPERTS, bias=False)
        self.gate = nn.Parameter(torch.randn(EXPERTS, D, FF) / math.sqrt(D))
        self.up = nn.Parameter(torch.randn(EXPERTS, D, FF) / math.sqrt(D))
        self.down = nn.Parameter(torch.randn(EXPERTS, FF, D) / math.sqrt(FF) * 0.3)

    def forward(self, x):
        b, t, _ = x.shape
        h = x.reshape(-1, D)
        probs = F.linear(h.float(), self.router.weight.float()).softmax(-1)
        w, ids = probs.topk(TOPK, -1)
        w = w / w.sum(-1, keepdim=True)
        n = h.shape[0]
        flat = ids.reshape(-1)
        order = flat.argsort()
        counts = torch.bincount(flat, minlength=EXPERTS)
        # fixed capacity: one batched matmul over all experts (tokens over capacity are dropped in training only)
        cap = int(n * TOPK / EXPERTS * 1.6) + 1
        start = torch.cumsum(counts, 0) - counts
        pos = torch.arange(flat.numel()) - start[flat[order]]
        keep = pos < cap
        slot = flat[order][keep] * cap + pos[keep]
        tok = order[keep] // TOPK
        h = h.to(torch.bfloat16) if torch.is_autocast_enabled("cpu") else h
        buf = torch.zeros(EXPERTS * cap, D, dtype=h.dtype).index_copy(0, slot, h[tok]).view(EXPERTS, cap, D)
        y = torch.bmm(
            F.silu(torch.bmm(buf, self.gate.to(h.dtype))) * torch.bmm(buf, self.up.to(h.dtype)), self.down.to(h.dtype)
        ).view(-1, D)
        contrib = y[slot].float() * w.reshape(-1)[order][keep].unsqueeze(-1)
        out = torch.zeros(n, D).index_add(0, tok, contrib)
        share = counts.float() / counts.sum()
        aux = EXPERTS * (share * probs.mean(0)).sum()
        return out.view(b, t, D), aux


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.attn, self.n2, self.moe = RMS(D), Attention(), RMS(D), MoE()

    def forward(self, x, cos, sin):
        x = x + self.attn(self.n1(x), cos, sin)
        y, aux = self.moe(self.n2(x))
        return x + y, aux


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, D)
        nn.init.normal_(self.emb.weight, std=0.05)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = RMS(D)
        inv = ROPE_BASE ** (-torch.arange(0, HD, 2).float() / HD)
        f = torch.outer(torch.arange(CTX).float(), inv)
        self.register_buffer("cos", f.cos(), persistent=False)
        self.register_buffer("sin", f.sin(), persistent=False)

    def forward(self, ids):
        x = self.emb(ids) * 8.0
        t = ids.shape[1]
        cos, sin = self.cos[:t], self.sin[:t]
        aux = 0.0
        for b in self.blocks:
            x, a = b(x, cos.to(x.dtype), sin.to(x.dtype))
            aux = aux + a
        return F.linear(self.norm(x), self.emb.weight), aux / LAYERS


def tokenizer(path: pathlib.Path):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    if path.exists():
        return Tokenizer.from_file(str(path))
    tk = Tokenizer(models.BPE())
    tk.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # the GPT-2 rule
    tk.decoder = decoders.ByteLevel()
    g = corpus.stream(7)
    tr = trainers.BpeTrainer(
        vocab_size=VOCAB,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tk.train_from_iterator((next(g) for _ in range(40000)), tr)
    tk.save(str(path))
    return tk


def batches(tk, bsz, t, seed):
    g = corpus.stream(seed)
    eot = tk.token_to_id(SPECIAL[0])
    buf: list[int] = []
    while True:
        need = bsz * (t + 1)
        while len(buf) < need:
            for e in tk.encode_batch([next(g) for _ in range(256)]):
                buf += [*e.ids, eot]
        yield torch.tensor(buf[:need]).view(bsz, t + 1)
        buf = buf[need:]


def export(model: Model, tk, out: str):
    import gguf

    w = gguf.GGUFWriter(f"{out}-F32.gguf", "qwen3moe")
    w.add_name("Demo MoE")
    w.add_description("A tiny chat model trained on generated transcripts, to try expert streaming without a download.")
    w.add_block_count(LAYERS)
    w.add_context_length(CTX)
    w.add_embedding_length(D)
    w.add_feed_forward_length(FF)
    w.add_expert_feed_forward_length(FF)
    w.add_expert_count(EXPERTS)
    w.add_expert_used_count(TOPK)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV)
    w.add_key_length(HD)
    w.add_value_length(HD)
    w.add_rope_freq_base(ROPE_BASE)
    w.add_layer_norm_rms_eps(EPS)
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    spec = json.loads(tk.to_str())
    vocab = sorted(spec["model"]["vocab"].items(), key=lambda kv: kv[1])
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    spare = [f"<|unused{i}|>" for i in range(VOCAB - len(vocab))]  # the corpus may yield fewer merges than asked for
    w.add_token_list([k for k, _ in vocab] + spare)
    w.add_token_types(
        [gguf.TokenType.CONTROL if k in SPECIAL else gguf.TokenType.NORMAL for k, _ in vocab]
        + [gguf.TokenType.UNUSED] * len(spare)
    )
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in spec["model"]["merges"]])
    w.add_eos_token_id(tk.token_to_id("<|im_end|>"))
    w.add_pad_token_id(tk.token_to_id(SPECIAL[0]))
    w.add_add_bos_token(False)
    w.add_chat_template(TEMPLATE)

    def f(t):
        return t.detach().float().numpy().astype(np.float32)

    # the embedding scale is folded in; the tied head divides it out through the final norm
    w.add_tensor("token_embd.weight", f(model.emb.weight * 8.0))
    w.add_tensor("output.weight", f(model.emb.weight))
    w.add_tensor("output_norm.weight", f(model.norm.weight))
    for i, b in enumerate(model.blocks):
        p = f"blk.{i}."
        for name, t in (
            ("attn_norm", b.n1.weight),
            ("ffn_norm", b.n2.weight),
            ("attn_q_norm", b.attn.qn.weight),
            ("attn_k_norm", b.attn.kn.weight),
            ("attn_q", b.attn.q.weight),
            ("attn_k", b.attn.k.weight),
            ("attn_v", b.attn.v.weight),
            ("attn_output", b.attn.o.weight),
            ("ffn_gate_inp", b.moe.router.weight),
            ("ffn_gate_exps", b.moe.gate.transpose(1, 2)),
            ("ffn_up_exps", b.moe.up.transpose(1, 2)),
            ("ffn_down_exps", b.moe.down.transpose(1, 2)),
        ):
            w.add_tensor(p + name + ".weight", np.ascontiguousarray(f(t)))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--minutes", type=float, default=60)
    ap.add_argument("--out", default="demo-moe")
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--len", type=int, default=256)
    ap.add_argument("--lr", type=float, default=1.5e-3)
    ap.add_argument("--export-only", action="store_true")
    ap.add_argument("--resume", action="store_true")
    a = ap.parse_args()
    torch.manual_seed(0)
    tk = tokenizer(pathlib.Path(f"{a.out}.tokenizer.json"))
    model = Model()
    if a.export_only or a.resume:
        model.load_state_dict(torch.load(f"{a.out}.pt", weights_only=True))
    if not a.export_only:
        decay = [p for n, p in model.named_parameters() if p.ndim >= 2]
        rest = [p for n, p in model.named_parameters() if p.ndim < 2]
        opt = torch.optim.AdamW(
            [{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}],
            lr=a.lr,
            betas=(0.9, 0.95),
            fused=True,
        )
        data = batches(tk, a.batch, a.len, 11)
        t0, step, seen, last = time.time(), 0, 0, 0.0
        while (el := time.time() - t0) < a.minutes * 60:
            frac = el / (a.minutes * 60)
            lr = a.lr * min(1, (step + 1) / 40) * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * frac)))
            for g in opt.param_groups:
                g["lr"] = lr
            x = next(data)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits, aux = model(x[:, :-1])
            loss = F.cross_entropy(logits.float().reshape(-1, VOCAB), x[:, 1:].reshape(-1))
            (loss + 0.01 * aux).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad(set_to_none=True)
            step += 1
            seen += x[:, 1:].numel()
            if time.time() - last > 20:
                last = time.time()
                speed = f"{seen / 1e6:.2f}M tok {seen / (time.time() - t0):.0f} tok/s"
                print(f"step {step} {speed} loss {loss.item():.4f} aux {aux.item():.3f}", flush=True)
                torch.save(model.state_dict(), f"{a.out}.pt")
        torch.save(model.state_dict(), f"{a.out}.pt")
    export(model, tk, a.out)


if __name__ == "__main__":
    main()
