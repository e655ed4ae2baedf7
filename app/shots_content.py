"""Sample conversations for the pictures."""

from __future__ import annotations

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


def fill(store: Store) -> int:
    """Put a few conversations into an empty store; returns the id of the one worth looking at."""
    for title, question, answer in (
        ("Names for a boat", "Names for a small sailing boat?", "*Gannet*, *Petrel*, *Little Wing*."),
        ("Sums of odd numbers", "Why is the sum of odd numbers a square?", "Each odd number adds a corner."),
        ("كلمات عربية", "اكتب جملة قصيرة عن البحر", "البحر هادئ هذا الصباح."),
    ):
        _conversation(store, title, question, answer)
    number = _conversation(store, "How experts work", "How does a mixture-of-experts model work?", ANSWER, THINKING)
    store.pin(1, True)
    return number


def _conversation(store: Store, title: str, question: str, answer: str, thinking: str = "") -> int:
    made = store.new_conversation()
    store.rename(made.id, title)
    asked = store.add_message(made.id, None, "user", question)
    figures = {"tokens_per_s": 4.63, "first_token_s": 1.21, "hit_rate": 0.87, "stall_s": 2.4, "tokens": 214.0}
    reply = store.add_message(made.id, asked.id, "assistant", "", extra={"figures": figures, "thinking_s": 3})
    reply.text, reply.thinking = answer, thinking
    store.finish_message(reply)
    return made.id
