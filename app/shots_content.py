"""Sample conversations and a sample tuning for the pictures."""

from __future__ import annotations

from typing import Any

from app.store import Store

ANSWER = """\
A **mixture-of-experts** model has many small networks, the *experts*, in every layer. For each token a router \
picks a few:

1. The router scores all experts of the layer.
2. The best few, say 8 of 128, do the work.
3. Their results are added, weighted by the scores.

So only a few percent of the weights work at a time:

| Model | Weights | Used per token | Share |
|:--|--:|--:|--:|
| Small | 30 B | 3 B | 10 % |
| Large | 235 B | 22 B | 9 % |

In code, with `top_k` experts per token:

```python
def moe(x, router, experts, top_k=8):
    scores = softmax(router @ x)            # one score per expert
    chosen = argsort(scores)[-top_k:]       # the best few
    weights = scores[chosen] / scores[chosen].sum()
    return sum(w * experts[i](x) for w, i in zip(weights, chosen))
```

> The experts that are not picked can stay on the SSD until they are needed.

See the [paper](https://arxiv.org/abs/2101.03961) for more.
"""

THINKING = "The user wants a short explanation. I should say what a router does and show the numbers in a table."


ARABIC = """\
البحر هادئ هذا الصباح، والنورس يحلق فوق الماء.

1. يبحث عن السمك من الأعلى.
2. يطوي جناحيه ويغوص، ثم يعود.

| الطائر | العمق |
|:--|--:|
| الأطيش | 20 m |

```python
print("مرحبا")  # a line of code reads from the left
```

And a paragraph in English stands on its own side again.
"""


def fill(store: Store) -> dict[str, int]:
    """Put a few conversations into an empty store; returns the ids of those worth looking at, by name."""
    for title, question, answer in (
        ("Names for a boat", "Names for a small sailing boat?", "*Gannet*, *Petrel*, *Little Wing*."),
        ("Sums of odd numbers", "Why is the sum of odd numbers a square?", "Each odd number adds a corner."),
    ):
        _conversation(store, title, question, answer)
    arabic = _conversation(store, "كلمات عربية", "اكتب جملة قصيرة عن البحر", ARABIC)
    number = _conversation(store, "How experts work", "How does a mixture-of-experts model work?", ANSWER, THINKING)
    store.pin(1, True)
    return {"long": number, "arabic": arabic}


def _conversation(store: Store, title: str, question: str, answer: str, thinking: str = "") -> int:
    made = store.new_conversation()
    store.rename(made.id, title)
    asked = store.add_message(made.id, None, "user", question)
    figures = {"tokens_per_s": 4.63, "first_token_s": 1.21, "hit_rate": 0.87, "stall_s": 2.4, "tokens": 214.0}
    reply = store.add_message(made.id, asked.id, "assistant", "", extra={"figures": figures, "thinking_s": 3})
    reply.text, reply.thinking = answer, thinking
    store.finish_message(reply)
    return made.id


def _tuning() -> tuple[dict[str, Any], ...]:
    """Events of a tuning as they came on a notebook, in the tuner's form (`autotune/result.py`)."""
    drive = [
        {"read_bytes": size, "queue_depth": depth, "bytes_s": top * depth / (depth + half)}
        for size, top, half in ((131_072, 1.6e9, 6.0), (524_288, 2.3e9, 2.2), (2_097_152, 2.5e9, 0.8))
        for depth in (1, 2, 4, 8, 16, 32)
    ]
    arms = [
        _arm("defaults", "kept", (4.41, 4.52, 4.37, 4.48), default=True),
        _arm("12 read threads, lookahead 2", "chosen", (5.31, 5.22, 5.40, 5.28)),
        _arm("8 read threads", "kept", (4.71, 4.95, 4.60)),
        _arm("6 compute threads", "dropped", (3.92, 4.05)),
        _arm("lookahead 3", "dropped", (4.22,)),
        _arm("8 compute threads, 16 read threads, lookahead 2", "crashed", (), error="it ran out of memory"),
        _arm("lookahead 0", "skipped", ()),
    ]
    running = [{**one, "state": "running" if one["state"] in ("kept", "chosen") else one["state"]} for one in arms]
    running[4] |= {"state": "waiting", "runs_tok_s": (), "decode_tok_s": None}
    probes = (("memory", "15.4 GiB, 9.8 free"), ("bandwidth", "38 GB/s"), ("drive", "2.41 GB/s"))
    result = {
        "chosen": {"io_threads": 12, "lookahead": 2}, "chosen_arm": arms[1]["name"], "arms": arms, "drive": drive,
        "reason": "12 read threads, lookahead 2 answers 1.19 times as fast as the settings before (at least 1.12 with"
        " 95 % confidence), because it waits 24 ms less per token for the drive.",
        "presets": [], "notes": ["computing a prompt takes long here: short ones are used"],
    }  # fmt: skip
    events = [{"phase": "probe", "fraction": 0.1, "message": f"Measuring: {name}", "probe": name, "value": value}
              for name, value in probes]  # fmt: skip
    events += [{"phase": "probe", "fraction": 0.15, "drive": point} for point in drive]
    measuring = {"phase": "measure", "fraction": 0.62, "message": "Measuring 8 read threads", "remaining_s": 64.0}
    return (*events, {**measuring, "arms": running}, {"phase": "done", "fraction": 1.0, "result": result})


def _arm(name: str, state: str, runs: tuple[float, ...], default: bool = False, error: str = "") -> dict[str, Any]:
    middle = sum(runs) / len(runs) if runs else 0.0
    spread = 0.12 if len(runs) > 1 else 0.0
    speed = {"middle": middle, "low": middle - spread, "high": middle + spread, "count": len(runs)} if runs else None
    ratio = {"middle": middle / 4.445, "low": 1.1, "high": 1.2, "count": len(runs)} if runs else None
    return {
        "name": name, "state": state, "default": default, "runs_tok_s": runs, "decode_tok_s": speed, "ratio": ratio,
        "error": error or None,
    }  # fmt: skip


TUNING = _tuning()
