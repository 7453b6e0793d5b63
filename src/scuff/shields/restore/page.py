"""A page: the words of texts that `restore` asks for, what is known of each, and the case of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...text.corpus import Corpus
from ...text.ragged import Ints, Mask, Ragged, sums
from ...text.unicode import case_map
from ...text.words import Spans
from ..hashes import word_bits
from ..lexicon import folded, lexicon
from ..technical import Technical, attached, in_camel_case
from ..word_parts import APOSTROPHE, CURLY, HYPHEN, at_hyphens, has_own
from .candidates import Candidates
from .channels import Bitcosts

NAME = 0.9  # the share of capitals from which on a word is a name
# how often a right word is in no list: small, at the start of a sentence, with a capital inside it, in a text without capitals
LACKED = {"small": 0.0015, "start": 0.006, "title": 0.02, "bare": 0.03}
BREAKS = np.isin(np.arange(128), [ord(char) for char in '.!?;:"()[]\n'])
MASKS = np.isin(np.arange(128), [ord(char) for char in "*#$%"])  # symbols that hide letters: st*pid
SHORT = 5  # letters of a word in capitals that may be an abbreviation


@dataclass(frozen=True, eq=False)
class Page:
    """The words of all texts (`units`), and what is known of each.

    distinct: the different words, kind: which of them each unit is. number: of a unit in the lexicon, -1 for none. before,
    after: the unit beside each, -1 where a sentence ends; starts: which units begin one. fixed: what must stay.
    staying: what is part of code, a path or the like; technical: which texts are full of such.
    """

    corpus: Corpus
    units: Spans
    distinct: Ragged
    kind: Ints
    number: Ints
    unknown: Mask
    fixed: Mask
    loud: Mask
    before: Ints
    after: Ints
    starts: Mask
    staying: Mask
    technical: Mask

    @classmethod
    def of(cls, corpus: Corpus, units: Spans | None = None) -> Page:
        words, units = lexicon(), _units(corpus) if units is None else units
        texts = corpus.cut(units)
        _, first, kind = np.unique(word_bits(folded(texts)), return_index=True, return_inverse=True)
        distinct = texts.take(first)
        number = words.number(distinct)
        known = (number >= 0) | words.known(distinct)
        fixed, loud = _fixed(corpus, units, texts)
        technical = Technical.of(corpus)
        staying = technical.inside[units.start] | in_camel_case(texts)
        return cls(
            corpus, units, distinct, kind, number[kind], ~known[kind], fixed | staying, loud & ~staying,
            *_beside(corpus, units), staying, technical.rows(units.per_row(len(corpus))),
        )  # fmt: skip

    @cached_property
    def total(self) -> Ints:
        """How many units each text has."""
        return self.units.per_row(len(self.corpus))


def _units(corpus: Corpus) -> Spans:
    """The words of all texts; unknown compounds and possessives as their parts, words with masked letters whole."""
    words = corpus.words
    if corpus.of_lists or not len(words):
        return words
    gap = np.append(words.start[1:] - words.stop[:-1], 0)
    close = (gap > 0) & (gap <= 3) & np.append(words.row[1:] == words.row[:-1], False)
    at = np.flatnonzero(close)
    for step in range(3):
        inner = gap[at] > step
        code = corpus.codes[np.minimum(words.stop[at] + step, corpus.codes.size - 1)]
        at = at[~inner | MASKS[np.minimum(code, 127)]]
    if at.size:
        joined = np.zeros(len(words), np.bool_)
        joined[at] = True
        opens = np.append(True, ~joined[:-1])
        closes = np.flatnonzero(~joined)
        words = Spans(words.row[opens], words.start[opens], words.stop[closes])
    return _parts(corpus, words)


def _parts(corpus: Corpus, words: Spans) -> Spans:
    """The words, but unknown ones with hyphens cut into their parts, and without a possessive 's."""
    code = corpus.codes
    marks = np.flatnonzero((code == HYPHEN) | (code == APOSTROPHE) | (code == CURLY))
    some = np.flatnonzero(np.diff(np.searchsorted(marks, np.append(words.start, code.size))))
    some = some[marks[np.searchsorted(marks, words.start[some])] < words.stop[some]]
    new = np.zeros(len(words), np.bool_)
    new[some] = ~lexicon().known(corpus.cut(words.where(some)))
    if not new.any():
        return words
    whole = words.where(new)
    whole = Spans(whole.row, whole.start, whole.stop - 2 * has_own(code, whole))
    parts, _ = at_hyphens(code, whole)
    rest, parts = words.where(~new), parts.where(parts.stop > parts.start)
    order = np.argsort(np.append(rest.start, parts.start), kind="stable")
    row, start, stop = (
        np.append(getattr(rest, name), getattr(parts, name))[order] for name in ("row", "start", "stop")
    )
    return Spans(row, start, stop)


def _fixed(corpus: Corpus, units: Spans, texts: Ragged) -> tuple[Mask, Mask]:
    """Which words stay whatever they are: with digits or letters other than a to z, in addresses and code, abbreviations; and
    which stay only because they may be an abbreviation.
    """
    upper = case_map(upper=True)
    low = folded(texts).codes
    plain = ((low >= ord("a")) & (low <= ord("z"))) | (low == 39) | (low == HYPHEN)
    plain |= (low < 128) & MASKS[np.minimum(low, 127)]
    fixed = sums(~plain, texts.offsets) > 0
    loud = sums(texts.codes != upper[texts.codes], texts.offsets) == 0
    letters = np.bincount(units.row, texts.lengths, len(corpus))
    shouted = np.bincount(units.row, texts.lengths * loud, len(corpus))
    fixed |= texts.lengths == 1
    few = np.flatnonzero(~fixed)
    if few.size:
        fixed[few] = attached(corpus, units.where(few))
    loud &= ~fixed & (texts.lengths <= SHORT) & (2 * shouted < letters)[units.row]
    return fixed | loud, loud


def _beside(corpus: Corpus, units: Spans) -> tuple[Ints, Ints, Mask]:
    """The unit before and after each, -1 where a sentence ends between them, and which units begin a sentence."""
    ends = np.append(0, np.cumsum(BREAKS[np.minimum(corpus.codes, 127)] & (corpus.codes < 128)))
    follows = np.zeros(len(units), np.bool_)
    follows[1:] = (units.row[1:] == units.row[:-1]) & (ends[units.start[1:]] == ends[units.stop[:-1]])
    index = np.arange(len(units))
    return np.where(follows, index - 1, -1), np.where(np.append(follows[1:], False), index + 1, -1), ~follows


def by_case(page: Page, asked: Ints, found: Candidates) -> tuple[Bitcosts, Bitcosts, Mask]:
    """What the case of each asked word says: log2 of how often right words written so are unknown, log2 of how often each
    candidate is written so, and which candidates get a capital letter that the noisy word does not have.
    """
    rows, units, words = len(page.corpus), page.units, lexicon()
    texts = page.corpus.cut(units)
    capital = texts.codes != case_map(upper=False)[texts.codes]
    some = sums(capital, texts.offsets) > 0
    many = np.bincount(units.row, some, rows)
    # a text without any capital, or with one in nearly all words, says nothing
    says = (many > 0) & (many <= 0.6 * page.total)
    mine, row, starts = some[asked], units.row[asked], page.starts[asked]
    rate = np.where(mine, np.where(starts, LACKED["start"], LACKED["title"]), LACKED["small"])
    rate = np.where(says[row], rate, LACKED["bare"])
    share = words.capital[found.word]
    first = words.words.codes[words.words.offsets[found.word]]
    begins = case_map(upper=False)[page.corpus.codes[units.start[asked]]]
    lost = (begins[found.of] != first) & ~mine[found.of]  # the first letter is gone, and its capital with it
    written = np.where(mine[found.of], np.where(starts[found.of], 0.5, share), np.where(lost, 0.5, 1 - share))
    bits = np.where(says[row[found.of]], np.log2(np.maximum(written, 0.03)), 0.0)
    raised = ~mine[found.of] & says[row[found.of]] & ((share > NAME) | (lost & starts[found.of]))
    return np.log2(rate).astype(np.float32), bits.astype(np.float32), raised


def cased_as(new: Ragged, old: Ragged, raised: Mask) -> Ragged:
    """New words in the case of the old: all capitals, capitals where the same letters have them, a first capital (also if it
    slipped inside, or for `raised` words), or small.
    """
    upper, lower = case_map(upper=True), case_map(upper=False)
    big = old.codes != lower[old.codes]
    capital = sums(big, old.offsets)
    small = sums(old.codes != upper[old.codes], old.offsets)
    codes = new.codes.copy()
    shout = np.repeat((capital > 1) & (small == 0), new.lengths)
    codes[shout] = upper[codes[shout]]
    row = np.repeat(np.arange(len(old)), old.lengths)
    place = np.arange(old.codes.size) - old.offsets[:-1][row]
    where = np.flatnonzero(big & (place < new.lengths[row]))
    where = where[new.codes[new.offsets[:-1][row[where]] + place[where]] == lower[old.codes[where]]]
    same = np.bincount(row[where], minlength=len(old)) == capital
    mixed = where[same[row[where]]]
    codes[new.offsets[:-1][row[mixed]] + place[mixed]] = old.codes[mixed]
    first = new.offsets[:-1][((capital > 0) & ~same) | raised]
    codes[first] = upper[codes[first]]
    curly = np.repeat(sums(old.codes == 0x2019, old.offsets) > 0, new.lengths)
    codes[curly & (codes == 39)] = 0x2019
    return Ragged(codes, new.offsets)
