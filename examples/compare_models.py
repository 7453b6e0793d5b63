"""Compare two models on the same cases: same data, seed, degrees and number of cases."""

from __future__ import annotations

from collections.abc import Callable

import scuff

DATA = [
    ("A great film, and I would watch it again tomorrow", "positive"),
    ("This was a great meal and a quiet evening", "positive"),
    ("The soup was cold and the waiter had no time for us", "negative"),
    ("Nothing in this hotel works, least of all the lift", "negative"),
] * 5
DIMENSIONS = ["typo-g", "glyph-g", "inner-shuffle"]


def whole_word(texts: list[str]) -> list[str]:
    return ["positive" if " great " in f" {text} " else "negative" for text in texts]


def letters(texts: list[str]) -> list[str]:
    """Is not misled by the order of letters."""
    return ["positive" if "aegrt" in {"".join(sorted(w)) for w in text.split()} else "negative" for text in texts]


if __name__ == "__main__":
    models: list[Callable[[list[str]], list[str]]] = [whole_word, letters]
    first, second = (scuff.evaluate(model, DATA, dimensions=DIMENSIONS, degrees=[0.3, 0.6], seed=1) for model in models)
    print(f"{'final average':15}  whole word             letters")
    for name in DIMENSIONS:
        one, other = (result.summary["dimensions"][name]["average"] for result in (first, second))
        print(f"{name:15}  {one['value']} {one['interval']}  {other['value']} {other['interval']}")
