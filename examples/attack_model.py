"""Attack a model: search for texts that fool it, close to those of the data."""

from __future__ import annotations

import scuff

if __name__ == "__main__":
    result = scuff.attack(
        "toy:sentiment", "toy:sentiment", "deepwordbug",
        constraint=["changed(share=0.2)"],  # in place of the recipe's of that name, or beside them
        encoder="chrf",  # measures how much of a text is left, without a sentence encoder
        examples=100, max_queries=50,
    )  # fmt: skip
    print(result)
    for before, after in result.adversarial[:5]:
        print(before, "->", after, sep="\n  ")
