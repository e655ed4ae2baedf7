"""The prompt: the same English-looking text for everybody, cut to any number of tokens."""

from __future__ import annotations

import random

import llama_cpp

from engine.errors import GannetError

_SEED = 7
_SUBJECTS = (
    "the harbour master", "a retired surveyor", "the night train", "our neighbour's daughter", "the committee",
    "an old violin maker", "the second expedition", "a flock of geese", "the lighthouse", "this small republic",
)  # fmt: skip
_VERBS = (
    "remembered", "measured", "carried", "refused to sell", "crossed", "described", "quietly repaired", "photographed",
    "waited for", "lost sight of", "translated", "rebuilt",
)  # fmt: skip
_OBJECTS = (
    "the river in spring", "a letter without a name", "seven barrels of salt", "the bridge at noon", "its own shadow",
    "the first printed map", "a house made of glass", "the sound of distant engines", "all of the winter apples",
    "two theorems about circles", "the coast of an unknown island", "a field of blue flax",
)  # fmt: skip
_ENDINGS = (
    "before anyone could object", "for reasons that nobody wrote down", "while the snow kept falling", "in 1874",
    "with great patience", "and so the story went on", "as far as the records show", "although it was late",
)  # fmt: skip


def passage(sentences: int) -> str:
    """`sentences` sentences; a longer passage begins with a shorter one."""
    draw = random.Random(_SEED)
    parts = (_SUBJECTS, _VERBS, _OBJECTS, _ENDINGS)
    lines = (" ".join(draw.choice(words) for words in parts) for _ in range(sentences))
    return " ".join(f"{line[0].upper()}{line[1:]}." for line in lines)


def passage_tokens(llama: llama_cpp.Llama, count: int) -> list[int]:
    """The first `count` tokens of a passage that is long enough. Raises `GannetError` if there are not so many."""
    tokens = llama.tokenize(passage(count // 4 + 8).encode(), add_bos=True, special=False)
    if len(tokens) < count:
        raise GannetError(f"the model's vocabulary makes only {len(tokens)} of {count} prompt tokens of the text")
    return list(tokens[:count])
