"""The embedded victims, toy:sentiment and toy:tone, trained on the embedded data in a second.

Weights and residuals are multiples of 2^-20, so their sums are exact in any order, in any batch, on any machine.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.dataset import Task, joined
from ..data.toy import LABELS, TRANSLATE, toy_data
from ..huggingface.loading import BadModel
from ..resources import manifest
from ..text.ragged import Bits, Codes, Floats, Ints, Ragged, bounds, spread, sums
from ..text.random import BASE, mix, text_bits
from ..text.unicode import case_map, classes
from ..text.words import find_words
from .base import Access, Column, Outputs, Victim, sigmoid, softmax

VERSION = 1  # of the features and the training: part of the identity

BUCKETS = 1 << 16

END = BUCKETS  # the bucket of n-grams that run over the end of their text; every text has some: it is the intercept

GRAMS = range(2, 5)

BATCH, EPOCHS, RATE = 256, 20, 2.0


@dataclass(frozen=True, eq=False)
class Features:
    """Buckets of words and of character n-grams, text after text, and where the texts begin and end in both."""

    words: Ints
    word_edges: Ints
    grams: tuple[Ints, ...]  # for each n, a bucket per character
    edges: Ints
    scale: Floats  # of each text: 1 / sqrt(number of its features)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Features:
        ragged = Ragged.of([f" {text} " for text in texts])
        codes, edges = case_map(upper=False)[ragged.codes], ragged.offsets
        words = find_words(classes(codes), edges, np.empty(0, np.int64))
        length = words.stop - words.start
        hashed = text_bits(Ragged(codes[spread(words.start, length)], bounds(length)))
        per_row = words.per_row(len(texts))
        scale = 1 / np.sqrt(per_row + len(GRAMS) * ragged.lengths)
        return cls(_bucket(hashed), bounds(per_row), _grams(codes, edges), edges, scale)

    def score(self, weights: Floats) -> Floats:
        """The scaled sum of the weights of each text's features."""
        grams = weights[self.grams[0]]
        for more in self.grams[1:]:
            grams += weights[more]
        total: Floats = sums(grams, self.edges) + sums(weights[self.words], self.word_edges)
        return self.scale * total

    def gradient(self, residual: npt.NDArray[Any]) -> Floats:
        """For each bucket, the sum of the scaled residuals of the texts that have it."""
        share = _exact(self.scale * residual)
        out = np.zeros(BUCKETS + 1)
        out += np.bincount(self.words, np.repeat(share, np.diff(self.word_edges)), out.size)
        share = np.repeat(share, np.diff(self.edges))
        for grams in self.grams:
            out += np.bincount(grams, share, out.size)
        return out


def _grams(codes: Codes, edges: Ints) -> tuple[Ints, ...]:
    """For each n, the bucket of the n-gram that begins at each position."""
    after = np.append(codes, np.zeros(len(GRAMS), np.uint32)).astype(np.uint64)
    state, out = after[: codes.size], []
    for size in GRAMS:
        state = state * np.uint64(BASE) + after[size - 1 :][: codes.size]
        bucket = _bucket(mix(state ^ np.uint64(size)))
        for back in range(1, size):
            bucket[edges[1:] - back] = END  # in short texts this marks the end of the text before, which is right
        out.append(bucket)
    return tuple(out)


def _bucket(hashed: Bits) -> Ints:
    return (hashed & np.uint64(BUCKETS - 1)).astype(np.int64)


def _exact(values: Floats) -> Floats:
    """Rounds to multiples of 2^-20."""
    return np.rint(values * 2.0**20) * 2.0**-20


@cache
def _weights(name: str) -> Floats:
    """The weights of an embedded model: a row per sigmoid, of which sentiment has one."""
    texts, targets = toy_data(name, "train")
    return fit(name, [(texts, targets)] * EPOCHS)


def fit(
    name: str, epochs: Iterable[tuple[Sequence[str], Sequence[str | tuple[str, ...]]]], start: Floats | None = None
) -> Floats:
    """Trains logistic regression by Adagrad (Duchi et al., 2011). Returns a row of weights per sigmoid.

    name: sentiment or tone, whose labels are learnt. epochs: the texts and targets of each pass. A target is a label, or a tuple
    of labels. start: weights to go on with.
    """
    labels = LABELS[name][1:] if name == "sentiment" else LABELS[name]
    weights = np.zeros((len(labels), BUCKETS + 1)) if start is None else start.copy()
    squares = np.ones_like(weights)
    made: tuple[object, list[tuple[Features, Floats]]] = (None, [])
    for epoch in epochs:
        if epoch is not made[0]:  # else the features of the last epoch are these
            made = (epoch, _batches(*epoch, labels))
        for batch, right in made[1]:
            for row in range(len(labels)):
                gradient = batch.gradient(sigmoid(batch.score(weights[row])) - right[row])
                squares[row] += gradient**2
                weights[row] = _exact(weights[row] - RATE * gradient / np.sqrt(squares[row]))
    return weights


def _batches(
    texts: Sequence[str], targets: Sequence[str | tuple[str, ...]], labels: Sequence[str]
) -> list[tuple[Features, Floats]]:
    """The features of each batch, and for each sigmoid what it should say."""
    sets = [(target,) if isinstance(target, str) else target for target in targets]
    out = []
    for at in range(0, len(texts), BATCH):
        right = [[label in target for target in sets[at : at + BATCH]] for label in labels]
        out.append((Features.of(texts[at : at + BATCH]), np.array(right, np.float64)))
    return out


class Toy(Victim):
    """Logistic regression on hashed words and character n-grams: it needs no download and is as brittle as real classifiers.

    toy:sentiment tells bad reviews from good; toy:tone tags comments as rude, insult, threat, spam, in harmless words. A folder
    that `save_toy` wrote holds one that was trained on other texts, as `scuff harden` does.
    """

    access = Access.SCORE
    rows_at_once = 4096
    cases_at_once = 30_000
    sees_through_files = True

    def __init__(self, name: str) -> None:
        if name not in LABELS:
            raise ValueError(f"expected {', '.join(LABELS)} or {TRANSLATE} for toy, got {name!r}")
        self.data, self.name, self.labels = name, f"toy:{name}", LABELS[name]
        self.task: Task = "single" if name == "sentiment" else "multi"
        self.folder: Path | None = None

    @classmethod
    def of_folder(cls, folder: str | Path) -> Toy:
        """Opens a model that `save_toy` wrote."""
        path = Path(folder) / CONFIG
        name = json.loads(path.read_text(encoding="utf-8")).get("toy")
        if name not in LABELS:
            raise BadModel(
                f"{path}: expected one of {', '.join(LABELS)} as the toy, got {name!r}: save or train it again"
            )
        toy = cls(name)
        toy.name, toy.folder = str(folder), Path(folder)
        return toy

    @cached_property
    def weights(self) -> Floats:
        if self.folder is None:
            return _weights(self.data)
        path = self.folder / WEIGHTS
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as held:
                weights = np.zeros(tuple(held["shape"]))
                weights.flat[held["at"]] = held["value"]
        except (OSError, ValueError, TypeError, LookupError, EOFError, zipfile.BadZipFile, zlib.error):
            got = "a damaged file" if path.is_file() else "no such file"
            raise BadModel(f"{path}: expected the weights of an embedded model, got {got}: train it again") from None
        return weights

    def __call__(self, *columns: Column) -> Outputs:
        if len(columns) != 1:
            raise ValueError(f"expected one column of texts for {self.name}, got {len(columns)}")
        features = Features.of([joined(text) for text in columns[0]])
        logits = np.stack([features.score(row) for row in self.weights], 1)
        if self.task == "single":
            return Outputs.of(softmax(np.concatenate((np.zeros_like(logits), logits), 1)))
        return Outputs.of(sigmoid(logits))

    @property
    def identity(self) -> str:
        if self.folder is None:
            return f"{self.name}:{VERSION}:{manifest()[f'toy-{self.data}.txt']['sha256'][:16]}"
        digest = sha256((self.folder / WEIGHTS).read_bytes()).hexdigest()
        return f"toy:{self.data}:{VERSION}:{digest[:16]}"


MODEL_TYPE, CONFIG, WEIGHTS = "scuff-toy", "config.json", "weights.npz"


def save_toy(name: str, weights: Floats, folder: Path) -> None:
    """Writes a trained toy model: config.json, the last file, and weights.npz with the weights that are not 0."""
    at = np.flatnonzero(weights)
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:  # np.savez writes the time, too
        for key, array in (("at", at), ("shape", np.array(weights.shape)), ("value", weights.flat[at])):
            column = io.BytesIO()
            np.lib.format.write_array(column, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{key}.npy"), column.getvalue(), zipfile.ZIP_DEFLATED)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WEIGHTS).write_bytes(raw.getvalue())
    config = {"model_type": MODEL_TYPE, "toy": name, "version": VERSION, "labels": LABELS[name]}
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def is_toy_folder(folder: str | Path) -> bool:
    """Whether a folder says that a trained toy model is in it."""
    try:
        config = json.loads((Path(folder).expanduser() / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # ValueError: no JSON, or a name that no path can have
        return False
    return isinstance(config, dict) and config.get("model_type") == MODEL_TYPE
