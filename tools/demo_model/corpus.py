"""Endless chat transcripts for the demo model: a dozen small skills, each a grammar.

Every sample is a list of (role, text) turns. The skills differ in vocabulary and
form on purpose, so that a mixture-of-experts model trained on them routes a story
and a sum to different experts.
"""

from __future__ import annotations

import random

from words import (
    ANIMALS,
    CAPITALS,
    DAYS,
    EXPERTS,
    GERMAN,
    HELLO,
    MONTHS,
    MOODS,
    MORALS,
    NAMES,
    OPPOSITES,
    PAST,
    PLACES,
    PLURALS,
    PROBLEMS,
    RHYMES,
    SOUNDS,
    THINGS,
    WORDS,
)


def story(r: random.Random) -> list[tuple[str, str]]:
    name, animal, place, thing, mood = (
        r.choice(NAMES),
        r.choice(ANIMALS),
        r.choice(PLACES),
        r.choice(THINGS),
        r.choice(MOODS),
    )
    friend, fa = r.choice(NAMES), r.choice(ANIMALS)
    problem, fix = r.choice(PROBLEMS)
    problem = problem.format(t=thing)
    ask = r.choice(
        [
            f"Tell me a story about a {animal}.",
            f"Write a short story about a {mood} {animal}.",
            f"Tell me a story about a {animal} and {thing}.",
            f"I want a story with a {animal} named {name}.",
            "Tell me a story.",
        ]
    )
    first = r.choice(
        [
            f"Once upon a time, a {mood} {animal} named {name} lived in {place}.",
            f"In {place} there lived a {mood} {animal}. Everyone called the {animal} {name}.",
            f"{name} was a {mood} {animal} who loved {place}.",
        ]
    )
    second = r.choice(
        [
            f"One morning {name} found {thing}.",
            f"One day {name} set out with {thing}.",
            f"More than anything, {name} wanted {thing}.",
            f"On a bright day {name} was given {thing}.",
        ]
    )
    third = r.choice([f"But then {problem}.", f"Suddenly {problem}.", f"That same evening {problem}."])
    fourth = r.choice(
        [
            f"{name} called for {friend} the {fa}, and together they {fix}.",
            f"{friend} the {fa} came to help, and the two of them {fix}.",
            f"{name} did not give up. With {friend} the {fa}, {name} {fix}.",
        ]
    )
    last = r.choice(
        [
            f"From that day on {name} and {friend} were the best of friends.",
            "That night they both slept well.",
            f"Everyone in {place} still talks about it.",
        ]
    )
    text = " ".join([first, second, third, fourth, last])
    if r.random() < 0.5:
        text += " " + r.choice(MORALS)
    turns = [("user", ask), ("assistant", text)]
    if r.random() < 0.25:
        turns += [
            ("user", r.choice(["Who helped?", "Who was the friend?"])),
            ("assistant", f"{friend} the {fa} helped."),
        ]
    elif r.random() < 0.25:
        turns += [
            ("user", r.choice([f"Where did {name} live?", "Where was it?"])),
            ("assistant", f"{name} lived in {place}."),
        ]
    return turns


def sums(r: random.Random) -> list[tuple[str, str]]:
    out = []
    for _ in range(r.randint(1, 5)):
        op = r.choice("+-*") if r.random() < 0.8 else "+"
        a, b = (r.randint(0, 50), r.randint(0, 50)) if op != "*" else (r.randint(0, 10), r.randint(0, 10))
        if op == "-" and b > a:
            a, b = b, a
        v = {"+": a + b, "-": a - b, "*": a * b}[op]
        word = {"+": "plus", "-": "minus", "*": "times"}[op]
        out.append(
            r.choice(
                [("user", f"What is {a} {op} {b}?"), ("user", f"{a} {op} {b}"), ("user", f"What is {a} {word} {b}?")]
            )
        )
        out.append(("assistant", f"{a} {op} {b} = {v}"))
    return out


def lookup(r: random.Random) -> list[tuple[str, str]]:
    out = []
    for _ in range(r.randint(1, 4)):
        kind = r.randint(0, 6)
        if kind == 0:
            k, v = r.choice(list(CAPITALS.items()))
            q, a = r.choice([f"What is the capital of {k}?", f"Capital of {k}?"]), f"The capital of {k} is {v}."
        elif kind == 1:
            k, v = r.choice(list(OPPOSITES.items()))
            k, v = (k, v) if r.random() < 0.5 else (v, k)
            q, a = f"What is the opposite of {k}?", f"The opposite of {k} is {v}."
        elif kind == 2:
            k, v = r.choice(list(SOUNDS.items()))
            q, a = r.choice([f"What does a {k} say?", f"What sound does a {k} make?"]), f"A {k} says {v}."
        elif kind == 3:
            k, v = r.choice(list(PLURALS.items()))
            q, a = f"What is the plural of {k}?", f"The plural of {k} is {v}."
        elif kind == 4:
            k, v = r.choice(list(PAST.items()))
            q, a = f"What is the past tense of {k}?", f"The past tense of {k} is {v}."
        elif kind == 5:
            k, v = r.choice(list(GERMAN.items()))
            q, a = r.choice([f"How do you say {k} in German?", f"Translate {k} to German."]), f"In German, {k} is {v}."
        else:
            seq = r.choice([DAYS, MONTHS])
            i = r.randrange(len(seq))
            q, a = (
                (f"What comes after {seq[i]}?", f"After {seq[i]} comes {seq[(i + 1) % len(seq)]}.")
                if r.random() < 0.5
                else (f"What comes before {seq[i]}?", f"Before {seq[i]} comes {seq[i - 1]}.")
            )
        out += [("user", q), ("assistant", a)]
    return out


def spelling(r: random.Random) -> list[tuple[str, str]]:
    w = r.choice(WORDS)
    return r.choice(
        [
            [("user", f"Spell {w}."), ("assistant", "-".join(w.upper()))],
            [
                ("user", f"How many letters are in {w}?"),
                ("assistant", f"{w} has {len(w)} letters: " + " ".join(w) + "."),
            ],
        ]
    )


def counting(r: random.Random) -> list[tuple[str, str]]:
    a = r.randint(0, 60)
    n = r.randint(3, 15)
    if r.random() < 0.6:
        return [("user", f"Count from {a} to {a + n}."), ("assistant", ", ".join(str(i) for i in range(a, a + n + 1)))]
    return [
        ("user", f"Count down from {a + n} to {a}."),
        ("assistant", ", ".join(str(i) for i in range(a + n, a - 1, -1))),
    ]


def lists(r: random.Random) -> list[tuple[str, str]]:
    what, items = r.choice(
        [
            ("animals", ANIMALS),
            ("names", NAMES),
            ("countries", list(CAPITALS)),
            ("capitals", list(CAPITALS.values())),
            ("days", DAYS),
            ("months", MONTHS),
            ("moods", MOODS),
        ]
    )
    n = r.randint(2, 6)
    pick = items[:n] if what in ("days", "months") else r.sample(items, n)
    return [
        ("user", f"List {n} {what}."),
        ("assistant", f"Here are {n} {what}:\n\n" + "\n".join(f"{i}. {x}" for i, x in enumerate(pick, 1))),
    ]


def code(r: random.Random) -> list[tuple[str, str]]:
    n = r.choice(NAMES).lower()
    a = r.randint(1, 20)
    q, body = r.choice(
        [
            (f"Write Python that prints {n}.", f'print("{n}")'),
            (f"Write Python that counts to {a}.", f"for i in range(1, {a + 1}):\n    print(i)"),
            ("Write a Python function that adds two numbers.", "def add(a, b):\n    return a + b"),
            (f"Write a Python function named {n} that doubles a number.", f"def {n}(x):\n    return 2 * x"),
            (
                f"Write Python that sums the numbers up to {a}.",
                f"total = 0\nfor i in range(1, {a + 1}):\n    total += i\nprint(total)",
            ),
        ]
    )
    return [("user", q), ("assistant", f"```python\n{body}\n```")]


def poem(r: random.Random) -> list[tuple[str, str]]:
    (x, a), (y, b) = r.sample(RHYMES, 2)
    m, an = r.choice(MOODS), r.choice(ANIMALS)
    return [
        ("user", r.choice([f"Write a poem about {x}.", "Write a poem.", f"A short poem about a {an}, please."])),
        (
            "assistant",
            f"A {m} {an} looked up at {x},\nand hoped to see it {a}.\n"
            f"It listened long beside {y},\nand wished to come {b}.",
        ),
    ]


def about(r: random.Random) -> list[tuple[str, str]]:
    out = []
    for qs, a in r.sample(EXPERTS, r.randint(1, 2)):
        out += [("user", r.choice(qs)), ("assistant", a)]
    return out


def hello(r: random.Random) -> list[tuple[str, str]]:
    q, a = r.choice(HELLO)
    return [("user", q + r.choice(["", "!", "."]) if not q.endswith("?") else q), ("assistant", a)]


SKILLS = [
    (story, 30),
    (sums, 18),
    (lookup, 20),
    (spelling, 8),
    (counting, 6),
    (lists, 6),
    (code, 5),
    (poem, 5),
    (about, 8),
    (hello, 5),
]


def conversation(r: random.Random) -> list[tuple[str, str]]:
    turns: list[tuple[str, str]] = []
    fns, weights = zip(*SKILLS, strict=False)
    for _ in range(1 if r.random() < 0.6 else r.randint(2, 3)):
        turns += r.choices(fns, weights)[0](r)
    return turns


def render(turns: list[tuple[str, str]]) -> str:
    """ChatML, the template the model file carries."""
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns)


def stream(seed: int):
    r = random.Random(seed)
    while True:
        yield render(conversation(r))


if __name__ == "__main__":
    g = stream(1)
    for _ in range(6):
        print(next(g))
