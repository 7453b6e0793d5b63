"""Deobfuscate: what people write to keep a word from being recognised, and words that run together, are undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Ints, Mask, Ragged, bounds, sums
from ...text.words import Spans
from ..base import Repairs, Shield, mended
from ..lexicon import lexicon
from ..technical import Technical
from .costs import among
from .glued import Glued, find_glued
from .spacing import find_doubled, find_spaced
from .stretched import find_stretched
from .symbols import find_symbols

KINDS = ("symbols", "leet", "stretched", "doubled-space", "spaced", "glued")
SYMBOLS, LEET, STRETCHED, DOUBLED, SPACED, GLUED = range(len(KINDS))


@dataclass(frozen=True)
class Deobfuscate(Shield):
    """Takes symbols, blanks and repeated letters out of words, reads leet, and splits words that run together.

    Words that are right stay, as do numbers, codes, addresses, tags and punctuation between words. In a text that shows clear
    signs of tampering, weaker ones count as well. Only what does not depend on the language is mended in other languages.
    """

    name: ClassVar[str] = "deobfuscate"
    summary: ClassVar[str] = "symbols and blanks inside words, leet, stretched letters, doubled and missing blanks"
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def mend(self, corpus: Corpus) -> Repairs:
        if not corpus.of_lists:  # words as they look now, not those that a perturbed corpus remembers
            corpus = corpus.anew()
        technical = Technical.of(corpus)
        changes = find_symbols(corpus, technical.inside)
        text = Ragged(changes.new[changes.new > 0], bounds((changes.new > 0).astype(np.int64)))
        edits = Edits.of(corpus, Spans(changes.row, changes.at, changes.at + 1), text)
        done = Repairs.of(edits, np.where(changes.read, LEET, SYMBOLS), KINDS)
        now = mended(corpus, done)
        rows = np.flatnonzero(suspicious(now))
        if not rows.size:
            return done
        part, some = now.take(rows), (sums(technical.inside, corpus.offsets) > 0)[rows]
        stays = Technical.of(part, some).inside
        long, wide = (each.where(~stays[each.start]) for each in (find_stretched(part), find_doubled(part)))
        edits = Edits.join([_gone(part, long), _gone(part, wide)])
        found = Repairs.of(edits, np.repeat([STRETCHED, DOUBLED], [len(long), len(wide)]), KINDS)
        short = mended(part, found)
        row, at = find_spaced(short, changes.sure[rows])
        row, at = _outside(row, at, Technical.of(short, some).inside)
        spaced = Repairs.of(_gone(short, Spans(row, at, at + 1)), np.full(row.size, SPACED), KINDS)
        whole = mended(short, spaced)
        glued = _parted(whole, find_glued(whole, Technical.of(whole, some), changes.sure[rows]))
        return done.then(found.then(spaced, part).then(glued, part).of_rows(rows), corpus)


def suspicious(corpus: Corpus) -> Mask:
    """Which texts have words that are not known, single letters, letters three times or blanks twice: nothing is wrong with the
    words and blanks of others.
    """
    words, codes, offsets = corpus.words, corpus.codes, corpus.offsets
    odd = ~lexicon().known(corpus.cut(words))
    alone = np.flatnonzero(words.stop - words.start == 1)
    odd[alone] = ~among(codes[words.start[alone]], "aAI0123456789")
    out = np.bincount(words.row[odd], minlength=len(corpus)) > 0
    twice = codes[1:] == codes[:-1]
    again = np.flatnonzero(twice & ((codes[1:] == ord(" ")) | np.append(twice[1:], False)[: twice.size]))
    out[np.searchsorted(offsets, again, "right") - 1] = True
    return out


def _outside(row: Ints, at: Ints, stays: Mask) -> tuple[Ints, Ints]:
    """The places beside which nothing has to stay."""
    free = ~stays[at - 1] | ~stays[np.minimum(at + 1, stays.size - 1)]
    return row[free], at[free]


def _parted(corpus: Corpus, found: Glued) -> Repairs:
    """Missing blanks, and plain letters in the words that they part, as repairs; of both at one place, one."""
    plain = np.isin(found.letter_at, found.at)
    blank = found.at[~np.isin(found.at, found.letter_at)]
    row = np.append(found.row[~np.isin(found.at, found.letter_at)], found.letter_row)
    start, stop = np.append(blank, found.letter_at), np.append(blank, found.letter_at + 1)
    order = np.argsort(start, kind="stable")
    length = np.append(np.ones(blank.size, np.int64), 1 + plain)
    codes = np.full(int(length.sum()), ord(" "), np.uint32)
    codes[bounds(length)[1:][blank.size :] - 1] = found.letter
    text = Ragged(codes, bounds(length)).take(order)
    kind = np.append(np.full(blank.size, GLUED), np.where(plain, GLUED, SYMBOLS))[order]
    return Repairs.of(Edits.of(corpus, Spans(row[order], start[order], stop[order]), text), kind, KINDS)


def _gone(corpus: Corpus, spans: Spans) -> Edits:
    return Edits.of(corpus, spans, Ragged.blank(len(spans)))
