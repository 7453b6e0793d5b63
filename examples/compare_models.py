"""Compare two models on the same cases: differences with paired intervals, and what was won and lost."""

from __future__ import annotations

import tempfile
from pathlib import Path

import scuff

DATA = [
    (f"{opening} {text}", label)
    for opening in ("Well,", "Honestly,", "In short,", "As we said,", "Once more:")
    for text, label in (
        ("a great film, and I would watch it again tomorrow", "positive"),
        ("this was a great meal and a quiet evening", "positive"),
        ("the soup was cold and the waiter had no time for us", "negative"),
        ("nothing in this hotel works, least of all the lift", "negative"),
    )
]


def whole_word(texts: list[str]) -> list[str]:
    return ["positive" if " great " in f" {text} " else "negative" for text in texts]


def letters(texts: list[str]) -> list[str]:
    """Is not misled by the order of letters."""
    return ["positive" if "aegrt" in {"".join(sorted(w)) for w in text.split()} else "negative" for text in texts]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for model in (whole_word, letters):
            run = Path(folder) / model.__name__
            scuff.evaluate(model, DATA, run, dimensions=["typo-g", "glyph-g", "inner-shuffle"], degrees=[0.3, 0.6])
        print(scuff.compare(Path(folder) / "whole_word", Path(folder) / "letters", names=["whole word", "letters"]))
