"""Detector: how likely a text was tampered with, and by what kind of disguise.

What a chain of shields repairs, by kind and word, and a few statistics of the text itself go into small logistic models, which
build/shields/detect.py learns from clean and perturbed texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..perturbations.blocks import Tally, Work, blocks
from ..perturbations.protect import Protect
from ..resources import load
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Floats, Ints, Mask, Ragged, sums, text_lengths
from ..text.unicode import case_map, is_white
from ..text.words import Spans
from ..version import __version__
from .base import mended
from .chain import Chain
from .deobfuscate import Deobfuscate
from .hashes import word_bits
from .language import is_slang
from .lexicon import folded, lexicon
from .normalise import Normalise
from .restore import Restore
from .restore.candidates import KINDS as RESTORED
from .restore.caution import foreign_texts
from .technical import Technical

RATES = ("0.001", "0.01", "0.05")  # of false alarms, for which thresholds are known
STATISTICS = ("unknown", "left-unknown", "odd-letters", "symbols", "single-letters", "capitals", "words")
USUAL_BITS = 3.6  # of a letter after the one before it, in English
BY_LEXICON = {*RESTORED, "spaced", "glued"}  # kinds of repairs that mean little in other languages than English
FEW = 2.0  # words that every text is taken to have besides its own: one odd word of a short text is no tampering
KINDS_OF_TAMPERING = ("look-alike", "invisible", "symbols", "spacing", "leet", "spelling", "shuffled", "shortened")


class Detection(NamedTuple):
    """What a detector says of a text: how likely it was tampered with, how likely in each way, and whether that is an alarm."""

    probability: float
    kinds: dict[str, float]
    tampered: bool


@cache
def chain() -> Chain:
    """The shields whose repairs are counted."""
    return Chain((Normalise(), Deobfuscate(), Restore()))


def kinds_of_repairs() -> tuple[str, ...]:
    return tuple(kind for part in chain().parts for kind in part.kinds)


def features(corpus: Corpus) -> Floats:
    """What the models see of each text: [texts, 2 * kinds of repairs + statistics]."""
    counts: list[Ints] = []
    now = corpus
    for part in chain().parts:
        before, found = now, part.repairs(now)
        counts.append(found.counts(len(corpus)))
        now = mended(now, found)
    many = np.concatenate(counts, 1).astype(np.float64)
    ours = ~foreign_texts(before)  # as the last shield, which reads words, has seen them
    many[:, [kind in BY_LEXICON for kind in kinds_of_repairs()]] *= ours[:, None]
    total = np.maximum(corpus.words.per_row(len(corpus)), 1)[:, None]
    share = np.minimum(many / (total + FEW), 1.0)
    return np.concatenate((np.log1p(many), np.sqrt(share), _statistics(corpus, now, ours)), 1)


def _text_bits(corpus: Corpus, words: Spans) -> Floats:
    """How odd the letters of each text are, for English: mean bits of its words of ASCII letters."""
    rows, texts = len(corpus), corpus.cut(words)
    latin = np.flatnonzero(_plain(texts))
    bits = np.bincount(words.row[latin], _letter_bits(texts.take(latin)), rows) + FEW * USUAL_BITS
    out: Floats = bits / (np.bincount(words.row[latin], minlength=rows) + FEW)
    return out


def _statistics(corpus: Corpus, after: Corpus, ours: Mask) -> Floats:
    """STATISTICS of each text, outside of what is technical. Those that need an English lexicon are as in clean text where it is
    not `ours`.
    """
    rows, words = len(corpus), corpus.words
    technical = Technical.of(corpus).inside
    words = words.where(~technical[words.start])
    per = words.per_row(rows) + FEW
    texts = corpus.cut(words)
    odd, plain = _unknown(texts), _plain(texts)
    before = np.bincount(words.row[odd], minlength=rows)
    later = after.words
    later = later.where(~Technical.of(after).inside[later.start])
    left = np.bincount(later.row[_unknown(after.cut(later))], minlength=rows) / (later.per_row(rows) + FEW)
    single = (texts.lengths == 1) & plain
    pair = single[1:] & single[:-1] & (words.row[1:] == words.row[:-1])
    return np.stack(
        [
            np.sqrt(before / per) * ours,
            np.sqrt(left) * ours,
            np.where(ours, _text_bits(corpus, words), USUAL_BITS),
            np.sqrt(_inner_symbols(corpus, technical) / per),
            np.sqrt(np.bincount(words.row[1:][pair], minlength=rows) / per),
            np.sqrt(np.bincount(words.row[_mixed_case(texts)], minlength=rows) / per),
            np.log(per),
        ],
        1,
    )


def _plain(words: Ragged) -> Mask:
    """Words of ASCII letters alone."""
    low = words.codes | 0x20
    letter = (words.codes < 128) & (low >= 97) & (low <= 122)
    return (sums(letter, words.offsets) == words.lengths) & (words.lengths > 0)


def _unknown(words: Ragged) -> Mask:
    """Words of ASCII letters, in small letters, that nobody knows."""
    first = (
        words.codes[np.minimum(words.offsets[:-1], max(words.codes.size - 1, 0))] if words.codes.size else words.codes
    )
    mine = np.flatnonzero(_plain(words) & (first >= 97) & (first <= 122)) if words.codes.size else np.empty(0, np.int64)
    out = np.zeros(len(words), np.bool_)
    texts = words.take(mine)
    out[mine] = ~(lexicon().known(texts) | is_slang(word_bits(folded(texts))))
    return out


def _mixed_case(words: Ragged) -> Mask:
    """Words with a capital behind a small letter."""
    lower = (words.codes >= 97) & (words.codes <= 122)
    upper = (words.codes >= 65) & (words.codes <= 90)
    inner = np.zeros(words.codes.size, np.bool_)
    inner[1:] = lower[:-1] & upper[1:]
    starts = words.offsets[:-1]
    inner[starts[starts < inner.size]] = False
    return sums(inner, words.offsets) > 0


def _inner_symbols(corpus: Corpus, technical: Mask) -> Ints:
    """Signs between two letters, apostrophes and hyphens aside."""
    low = corpus.codes | 0x20
    letter = (corpus.codes < 128) & (low >= 97) & (low <= 122)
    sign = ~letter & ~is_white(corpus.codes) & (corpus.codes < 128) & (corpus.codes != 0x27) & (corpus.codes != 0x2D)
    inner = np.zeros(corpus.codes.size, np.bool_)
    inner[1:-1] = sign[1:-1] & letter[:-2] & letter[2:] & ~technical[1:-1]
    edges = corpus.offsets[corpus.lengths.nonzero()]  # of the texts that have letters: beside the first and the last
    inner[edges] = inner[edges - 1] = False  # of each stand those of another text
    return sums(inner, corpus.offsets)


@cache
def _pair_bits() -> Floats:
    """-log2 P(letter | letter before), 0 for the border of a word, counted over the lexicon by frequency."""
    words = lexicon().words
    code = np.where((words.codes >= 97) & (words.codes <= 122), words.codes - 96, 0).astype(np.int64)
    weight = np.exp2(-np.repeat(lexicon().cost.astype(np.float64), words.lengths))
    before = np.append(0, code[:-1])
    before[words.offsets[:-1]] = 0
    count = np.bincount(before * 27 + code, weight, 27 * 27).reshape(27, 27)
    count += 1e-6 * count.sum()
    out: Floats = -np.log2(count / count.sum(1, keepdims=True))
    return out


def _letter_bits(words: Ragged) -> Floats:
    """How odd the pairs of letters of each word of ASCII letters are: mean bits."""
    code = (case_map(upper=False)[words.codes] - np.uint32(96)).astype(np.int64)
    before = np.append(0, code[:-1])[: code.size]
    before[words.offsets[:-1]] = 0
    word = np.repeat(np.arange(len(words)), words.lengths)
    total = np.bincount(word, _pair_bits()[before, code], len(words))  # each word on its own, whatever stands before it
    out: Floats = total / np.maximum(words.lengths, 1)
    return out


@dataclass(frozen=True, eq=False)
class Weights:
    """What was learnt: a row of weights for tampering at all and for each kind, and thresholds by rate of false alarms."""

    names: tuple[str, ...]
    middle: Floats
    scale: Floats
    weights: Floats  # [1 + kinds, features]
    bias: Floats
    thresholds: dict[str, float]

    @classmethod
    def of(cls, data: dict[str, Any]) -> Weights:
        middle, scale, weights, bias = (
            np.array(data[name], np.float64) for name in ("middle", "scale", "weights", "bias")
        )
        return cls(tuple(data["names"]), middle, scale, weights, bias, data["thresholds"])

    def probabilities(self, seen: Floats) -> Floats:
        """[texts, 1 + kinds] of features."""
        usual = (seen - self.middle) / self.scale
        score = np.tile(self.bias, (len(usual), 1))
        for number, weight in enumerate(self.weights.T):  # BLAS adds in another order for another number of texts
            score += usual[:, number, None] * weight
        out: Floats = 1 / (1 + np.exp(-np.clip(score, -40, 40)))
        return out


@cache
def shipped() -> Weights:
    """The weights that ship with Scuff."""
    return Weights.of(json.loads(load("detect.json")))


@dataclass(frozen=True)
class Detector:
    """Says of texts whether they were tampered with. `false_alarms`: 0.001, 0.01 or 0.05, the share of clean texts that may raise
    an alarm.
    """

    false_alarms: float = 0.01

    def __post_init__(self) -> None:
        if not isinstance(self.false_alarms, int | float) or f"{self.false_alarms:g}" not in RATES:
            raise ValueError(f"expected {', '.join(RATES)} for detector.false_alarms, got {self.false_alarms!r}")

    @cached_property
    def _threshold(self) -> float:
        return shipped().thresholds[f"{self.false_alarms:g}"]

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """How likely each text was tampered with at all, and in each of KINDS_OF_TAMPERING: [texts, 1 + kinds]."""
        parts = [shipped().probabilities(features(Corpus.of(texts[part]))) for part in blocks(text_lengths(texts))]
        return np.concatenate([np.empty((0, 1 + len(KINDS_OF_TAMPERING))), *parts])

    def __call__(self, texts: Sequence[str]) -> list[Detection]:
        """What is found in each text."""
        shape = self.probabilities(texts)
        return [
            Detection(row[0], dict(zip(KINDS_OF_TAMPERING, row[1:], strict=True)), row[0] >= self._threshold)
            for row in shape.tolist()
        ]


@dataclass(frozen=True)
class Detecting(Work[Detection]):
    """A detector, applied to texts or tokens block by block; it changes none of them."""

    detector: Detector = field(default_factory=Detector)
    protect: Protect = field(default_factory=Protect)

    noun: ClassVar[str] = "detector"

    @property
    def spec(self) -> str:
        return f"detector(false_alarms={self.detector.false_alarms:g})"

    @property
    def signature(self) -> str:
        """All that decides the verdicts except the data."""
        return f"scuff:{__version__}|{self.spec}"

    def protecting(self, protect: Protect) -> Detecting:
        return replace(self, protect=protect)

    def changes(
        self, corpus: Corpus, part: slice, draw: int, tally: Tally | None
    ) -> tuple[Edits, Callable[[], list[list[Detection]]]]:
        verdicts = self.detector(corpus.strings())
        if tally:
            tally.texts += len(corpus)
            tally.changed_texts += sum(verdict.tampered for verdict in verdicts)
        return Edits.join([]), lambda: [[verdict] for verdict in verdicts]
