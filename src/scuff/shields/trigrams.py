"""How much a string of letters looks like a word: a model of three letters, learnt from the lexicon."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..text.ragged import Ints, sums
from .lexicon import lexicon
from .restore.channels import Bitcosts
from .restore.keys import Spelt

SHORT, ANY = 5, 6.5  # an abbreviation of up to so many letters can have any; bits of each of them


@cache
def _trigrams() -> Bitcosts:
    """-log2 P(letter | the two before it) of words as such: what a word that no list has looks like."""
    spelt = Spelt.of(lexicon().words)
    key = _letter_contexts(spelt)
    count = np.bincount(key, minlength=30**3).reshape(900, 30).astype(np.float64)
    pairs = count.reshape(30, 30, 30).sum(0)
    single = pairs.sum(0) + 1
    single /= single.sum()
    pairs = (pairs + 5 * single) / (pairs.sum(1, keepdims=True) + 5)
    p = (count + 5 * np.tile(pairs, (30, 1))) / (count.sum(1, keepdims=True) + 5)
    return -np.log2(p).astype(np.float32).ravel()


def _letter_contexts(spelt: Spelt) -> Ints:
    """The number of each letter with the two before it; one more at the end of each word."""
    flat = np.full(spelt.letters.size + 3 * len(spelt), 29, np.int64)
    at = np.arange(spelt.letters.size) + 3 * spelt.word + 2
    flat[at] = spelt.letters
    ends = spelt.offsets[1:] + 3 * np.arange(len(spelt)) + 2
    at = np.sort(np.append(at, ends))
    return (flat[at - 2] * 30 + flat[at - 1]) * 30 + flat[at]


def letter_bits(spelt: Spelt) -> Bitcosts:
    """log2 of the probability of each word as a string of letters that look like English."""
    cost = np.round(_trigrams()[_letter_contexts(spelt)] * 64).astype(np.int64)
    bits = -sums(cost, spelt.offsets + np.arange(len(spelt) + 1)).astype(np.float32) / 64
    short = np.where(spelt.lengths <= SHORT, -ANY * spelt.lengths, -np.inf)  # an abbreviation can have any letters
    return np.maximum(bits, short).astype(np.float32)
