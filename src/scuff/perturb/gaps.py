"""Words of a sentence that may give way to others that fit there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..language.substitutes import has_content, in_phrase, may_replace, takes_an
from ..language.tagger import tag_words, tagged, word_tags
from ..text import Corpus

NEAR = 6  # tokens on each side that decide about a tag
PHRASE = 3  # words on each side that may belong to a fixed phrase
AROUND = 8  # words on each side that tell what a word means
AT_ONCE = 4096  # sentences that are tagged together


@dataclass(frozen=True)
class Gap:
    """Word `number` of a corpus: where it is, its tag ("" where nobody looked), and the word before it across one space.

    begin, end: the part of the text with a few words on each side; near: these words.
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
        """Whether a word can stand here, and does not stand beside already."""
        if new.lower() in self.near:
            return False
        if not self.tag:
            return len(new) > 1
        if not may_replace(new, self.word, self.tag):
            return False
        return self.before not in ("a", "an") or takes_an(new) == (self.before == "an")


def find_gaps(corpus: Corpus, texts: list[str], tagged: bool) -> list[Gap]:
    """The words with content that belong to no fixed phrase; all words of letters if not `tagged`."""
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
    ]  # where no single space stands before a word
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
    """Of the words for each gap those that are tagged there as the old word is: "comes" is no noun, though there is one."""
    kept: list[list[str]] = [[] for _ in gaps]
    tokens = tagged(texts)
    at = [{token.start: place for place, token in enumerate(each)} for each in tokens]
    asked, parts = [], []
    for number, gap in enumerate(gaps):
        here = at[gap.text].get(gap.start)
        if here is None or tokens[gap.text][here].stop != gap.stop:  # inside an address, say
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
            if new == gaps[number].word:  # the first of each
                wanted = each[place]
            elif each[place] == wanted:
                kept[number].append(new)
    return kept
