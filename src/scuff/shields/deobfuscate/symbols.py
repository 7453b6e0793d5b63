"""Symbols inside words: which were put there to disguise a word, which stand for a letter, and which are punctuation.

A run of characters without white space costs what its words and the symbols between them cost in clean text. It is mended where
it costs less with one of its symbols taken out, or read as letters, although tampering costs bits, too: many in a text that shows
no tampering, few in one that does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...text.corpus import Corpus
from ...text.ragged import Codes, Floats, Ints, Mask, Ragged, bounds, spread, sums
from ...text.unicode import is_white, word_class
from ...text.unicode_data import LOWER, UPPER
from ..lexicon import lexicon
from .costs import CALM, GAP, SURE, SYMBOL, TAMPERED, among, bits_of_tampering, cost, softly, wordy_kinds
from .legitimate import forbidden
from .variants import DELETE, JOINERS, Cores, Variants, deletions, find_cores, readings

STRANGE = 4.0  # more bits where one deletion makes a word that is not known either
HYPHEN = 6.0  # more bits where one joiner goes: people write e-mail and on-line
ROUNDS = 4  # different symbols that may go from one run of characters
# an outer dollar sign is an s if that saves some bits and gives no rare word
DOLLAR, SAVED, RARE = ord("$"), 2.0, 19.0


@dataclass(frozen=True, eq=False)
class Undone:
    """Characters that go (new: 0) or become others, and how many words of each text were tampered with for sure."""

    row: Ints
    at: Ints
    new: Codes
    read: Mask  # a symbol or digit that stands for a letter
    sure: Ints


def find_symbols(corpus: Corpus, stays: Mask) -> Undone:
    """Finds symbols that disguise words, in all texts. stays: characters around which nothing is looked for."""
    cores = find_cores(corpus)
    stay = bounds(stays)
    free = stay[cores.start + cores.texts.lengths] == stay[cores.start]
    cores = cores.where(np.flatnonzero(free & (lexicon().number(cores.texts) < 0)))
    texts, row = cores.texts, cores.row
    place = spread(cores.start, texts.lengths)
    words = sums(is_white(corpus.codes), corpus.offsets) + 1
    sure = np.zeros(len(corpus), np.int64)
    prior = np.full(len(texts), TAMPERED)
    done: list[tuple[Ints, Ints, Codes, Mask]] = []
    for turn in range(ROUNDS):
        if not len(texts):
            break
        found = Variants.join([deletions(texts), readings(texts)])
        offers = Offers.of(texts, cores, found)
        if not turn:
            chosen, gain = offers.best(prior)
            sure = np.bincount(row[found.core[chosen[gain > SURE]]], minlength=len(corpus))
            prior = bits_of_tampering(sure, words)[row]
        chosen, gain = offers.best(prior)
        chosen = chosen[gain > 0]
        core = found.core[chosen]
        after = found.texts.take(chosen)
        source = found.source[spread(found.texts.offsets[chosen], after.lengths)]
        gone = np.repeat(_mask(core, len(texts)), texts.lengths)
        gone[source] = False
        at = np.flatnonzero(gone)
        changed = np.flatnonzero(after.codes != texts.codes[source])
        rows = np.repeat(row, texts.lengths)
        done.append((rows[at], place[at], np.zeros(at.size, np.uint32), np.zeros(at.size, np.bool_)))
        at = source[changed]
        done.append((rows[at], place[at], after.codes[changed], np.ones(at.size, np.bool_)))
        more = found.what[chosen] == DELETE
        again = core[more]
        place = place[source[np.repeat(more, after.lengths)]]
        texts, row, prior = after.take(np.flatnonzero(more)), row[again], prior[again]
        cores = replace(cores.where(again), texts=texts)
    done.append(find_dollars(corpus))
    rows, at, codes, read = (np.concatenate(part) for part in zip(*done, strict=True))
    order = np.unique(at, return_index=True)[1]
    order = order[~stays[at[order]]]  # a dollar sign may be found twice
    return Undone(rows[order], at[order], codes[order], read[order], sure)


def find_dollars(corpus: Corpus) -> tuple[Ints, Ints, Codes, Mask]:
    """Finds dollar signs that are the first or last letters of words: $tupid, cla$$."""
    codes, kind = corpus.codes, word_class(corpus.classes)
    dollar = codes == DOLLAR
    row = np.searchsorted(corpus.offsets, np.flatnonzero(dollar), "right") - 1
    inside = (kind == LOWER) | (kind == UPPER) | dollar
    border = np.zeros(codes.size + 1, np.bool_)
    border[corpus.offsets] = True
    opens = np.flatnonzero(inside & (border[:-1] | ~np.append(False, inside[:-1])))
    shuts = np.flatnonzero(inside & (border[1:] | ~np.append(inside[1:], False)[: codes.size])) + 1
    which = np.unique(np.searchsorted(opens, np.flatnonzero(dollar), "right") - 1)
    start, stop = opens[which], shuts[which]
    row = np.searchsorted(corpus.offsets, start, "right") - 1
    wordy = np.append(wordy_kinds()[kind], False)
    outside = ~(wordy[stop] & ~border[stop]) & ~(np.append(False, wordy)[start] & ~border[start])
    small = bounds(kind == LOWER)
    outside &= small[stop] - small[start] >= 2  # US$ and A$ are money
    outside &= dollar[start] ^ dollar[stop - 1]
    row, start, stop = row[outside], start[outside], stop[outside]
    length = stop - start
    text = codes[spread(start, length)]
    bare = text[text != DOLLAR]
    rest = Ragged(bare, bounds(sums(text != DOLLAR, bounds(length))))
    whole = Ragged(np.where(text == DOLLAR, np.uint32(ord("s")), text), bounds(length))
    number, other = lexicon().number(whole), lexicon().number(rest)
    better = np.where(other >= 0, lexicon().cost[other], np.inf) > lexicon().cost[number] + SAVED
    good = (number >= 0) & better & (lexicon().cost[number] < RARE) & (length > 2)
    at = spread(start[good], length[good])
    rows = np.repeat(row[good], length[good])
    sign = codes[at] == DOLLAR
    at, rows = at[sign], rows[sign]
    return rows, at, np.full(at.size, ord("s"), np.uint32), np.ones(at.size, np.bool_)


def _mask(index: Ints, size: int) -> Mask:
    out = np.zeros(size, np.bool_)
    out[index] = True
    return out


@dataclass(frozen=True, eq=False)
class Offers:
    """What variants of cores save, in bits, before tampering is paid for, and which may not be chosen."""

    core: Ints
    save: Floats
    calm: Mask  # not where the text does not look tampered with

    @classmethod
    def of(cls, texts: Ragged, cores: Cores, found: Variants) -> Offers:
        core, delete = found.core, found.what == DELETE
        old, new = cost(texts), cost(found.texts)
        many = texts.lengths[core] - found.texts.lengths
        once = delete & (many == 1)
        bits = SYMBOL + GAP * np.maximum(many, 1)
        bits = bits + np.where(once & softly(found.symbol) & ~new.known, STRANGE, 0)
        bits = bits + np.where(once & among(found.symbol, JOINERS), HYPHEN * (1 + old.known[core]), 0)
        never, calm = forbidden(texts, cores, found, old, new)
        return cls(core, np.where(never, -np.inf, old.bits[core] - new.bits - bits), calm)

    def best(self, prior: Floats) -> tuple[Ints, Floats]:
        """The best variant of each core that has any, and how many bits it saves. prior: those of tampering with each core."""
        paid = prior[self.core]
        gain = np.where(self.calm & (paid > CALM), -np.inf, self.save - paid)
        order = np.lexsort((np.arange(gain.size), -gain, self.core))
        first = order[np.flatnonzero(np.diff(self.core[order], prepend=-1))]
        return first, gain[first]
