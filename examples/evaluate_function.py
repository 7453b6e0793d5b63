"""Measure a function: any callable from a list of texts to labels or scores is a model."""

from __future__ import annotations

import scuff

REVIEWS = [
    ("A good film, and I would watch it again tomorrow", "positive"),
    ("I love this little place and its quiet garden", "positive"),
    ("The soup was cold and the waiter had no time for us", "negative"),
    ("Nothing in this hotel works, least of all the lift", "negative"),
] * 5


def predict(texts: list[str]) -> list[str]:
    return ["positive" if "good" in text or "love" in text else "negative" for text in texts]


if __name__ == "__main__":
    result = scuff.evaluate(predict, REVIEWS, dimensions=["typo-g", "keyboard", "glyph-m"], cases=5)
    print(result)  # the table
    print(f"clean {result.clean:.2f}, average {result.average:.2f}, worst {result.worst:.2f}")
