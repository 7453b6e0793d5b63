"""Train a model on clean texts, and on the same texts with perturbed copies; measure all on perturbed test data.

  python examples/augment.py                1,000 texts of the embedded data
  python examples/augment.py TRAIN TEST     your files with a text and a label: 3,000 texts to train on, 300 to test

Needs scikit-learn. Some dimensions are held out of training, to see how much is learnt and how much is learnt by heart.
"""

from __future__ import annotations

import sys
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union

import scuff
from scuff.data.reading import read_dataset
from scuff.data.toy import toy_data

TAUGHT = ["typo-g", "typo-m"]
HELD_OUT = ["phonetic-m", "glyph-m", "inner-shuffle"]
RATIOS = ["1:1", "1:4"]  # clean to perturbed

Rows = list[tuple[str, str]]  # text, label


def train(rows: Rows) -> Any:
    """Words, pairs of words and pieces of words under a logistic regression."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
    model = make_pipeline(make_union(words, pieces), LogisticRegression(C=10, max_iter=1000))
    return model.fit([text for text, _ in rows], [label for _, label in rows])


def main(training: Rows, test: Rows, **settings: Any) -> None:
    models = {"clean": train(training)}
    for ratio in RATIOS:
        rows = scuff.augment(training, dimensions=TAUGHT, degree=0.1, ratio=ratio)
        models[ratio] = train(rows)
        print(f"{ratio}: {len(training):,} texts and {len(rows) - len(training):,} copies")
    settings |= {"dimensions": TAUGHT + HELD_OUT, "degrees": [0.1, 0.2, 0.3]}
    summaries = [scuff.evaluate(model, test, **settings).summary for model in models.values()]

    def line(name: str, *cells: str) -> None:
        print(f"| {name:33} |", *(f"{cell:>5} |" for cell in cells))

    line("% after training on", *models)
    line("---", *("---" for _ in models))
    line("clean", *(percent(summary["clean"]["score"]["value"]) for summary in summaries))
    for dimension in TAUGHT + HELD_OUT:
        for kind in ("average", "worst"):
            found = [summary["dimensions"][dimension][kind] for summary in summaries]
            held_out = "" if dimension in TAUGHT else " (held out)"
            line(f"{dimension}{held_out}, {kind}", *(percent(score["value"]) for score in found))


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def read(path: str) -> Rows:
    data = read_dataset(path)
    return [(str(text), str(label)) for text, label in zip(data.columns[0], data.targets, strict=True)]


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(read(sys.argv[1])[:3000], read(sys.argv[2]), examples=300, cases=10)
    else:
        train_set, test_set = (list(zip(*toy_data("sentiment", part), strict=True)) for part in ("train", "test"))
        main(train_set[:1000], test_set, examples=100, cases=5)
