"""A constraint on parts of speech: edited words keep theirs, judged among the tokens around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ...english.tagger import UNIVERSAL, tag_words
from ...english.tokens import sentences
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Ints, Mask, bounds
from ...text.random import text_bits
from ...text.words import Spans
from .local import Local, Verdicts
from .words import edited_words

if TYPE_CHECKING:
    from ..candidates import Candidates
    from ..space import Space, State

NEAR = 4  # tokens on each side, as in TextFooler: 997 of 1,000 tags are then those of the whole sentence
HYPHENS = ("-", "‐", "‑")

Window = tuple[tuple[str, ...], int]  # tokens, and the place of the one whose tag is wanted
GONE: Window = ((), 0)  # of a deleted word


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The tokens of some texts. Positions count from the start of the first text. Sentences in capitals are lowercased."""

    words: list[str]
    start: Ints
    stop: Ints
    begin: Ints  # the number of the first token of its sentence
    end: Ints  # and of the first of the next sentence
    loud: Mask  # whether its sentence was in capitals

    @classmethod
    def of(cls, texts: Sequence[str], offsets: Ints) -> TokenTable:
        each = [_tokens_of(text) for text in texts]
        words = [word for one in each for word in one.words]
        length, loud = ([value for one in each for value in getattr(one, name)] for name in ("length", "loud"))
        place = np.repeat(offsets[: len(each)], [len(one.words) for one in each])
        start, stop = (
            place + np.concatenate([np.empty(0, np.int64), *(getattr(one, name) for one in each)])
            for name in ("start", "stop")
        )
        count = np.array(length, np.int64)
        edges = bounds(count)
        begin, end = np.repeat(edges[:-1], count), np.repeat(edges[1:], count)
        return cls(words, start, stop, begin, end, np.repeat(np.array(loud, np.bool_), count))


class _Tokens(NamedTuple):
    """The tokens of one text; of each sentence, how many there are, and whether it was in capitals."""

    words: list[str]
    start: Ints
    stop: Ints
    length: list[int]
    loud: list[bool]


@lru_cache(1 << 12)
def _tokens_of(text: str) -> _Tokens:
    """The tokens of an original text, which is asked for again in every batch of a search."""
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    length, loud = [], []
    for sentence in sentences(text):
        tokens = [text[a:b] for a, b in sentence]
        capitals = len(tokens) > 3 and "".join(tokens).isupper()  # the tagger takes capitals for names
        words += [token.lower() for token in tokens] if capitals else tokens
        spans += sentence
        length.append(len(tokens))
        loud.append(capitals)
    start, stop = np.array(spans, np.int64).reshape(-1, 2).T
    return _Tokens(words, start, stop, length, loud)


def windows(before: Corpus, after: Corpus, old: Spans, new: Spans) -> tuple[list[Window], list[int], list[Window]]:
    """The windows of edited words before the edits, each once; of each word the number of its window among them; and its window
    after the edits. Each original text is split into tokens once.
    """
    _, first_row, text = np.unique(text_bits(before), return_index=True, return_inverse=True)
    originals = before.take(first_row)
    texts = originals.strings()
    tokens, joined = TokenTable.of(texts, originals.offsets), "".join(texts)
    shift = originals.offsets[text[old.row]] - before.offsets[old.row]
    start, stop = old.start + shift, old.stop + shift
    first, last = np.searchsorted(tokens.stop, start, "right"), np.searchsorted(tokens.start, stop)
    low = np.maximum(first - NEAR, tokens.begin[first])
    high = np.minimum(last + NEAR, tokens.end[last - 1])
    # the edited words inside each window have numbers from `near` up to `far`
    apart = old.row * (len(tokens.words) + 1)
    near, far = np.searchsorted(apart + last, apart + low, "right"), np.searchsorted(apart + first, apart + high)

    spelt = after.cut(new).strings()
    more = (tokens.start[first] < start) | (tokens.stop[last - 1] > stop)  # a token may be longer than its word: @user
    for at in np.flatnonzero(more & (new.stop > new.start)).tolist():
        left, right = joined[tokens.start[first[at]] : start[at]], joined[stop[at] : tokens.stop[last[at] - 1]]
        spelt[at] = left + spelt[at] + right
    fresh = [_cut(word) for word in spelt]
    for at in np.flatnonzero(tokens.loud[first]).tolist():
        fresh[at] = tuple(token.lower() for token in fresh[at])

    was: dict[tuple[int, int, int, int], int] = {}
    number, now, words = list[int](), list[Window](), tokens.words
    begin, end = first.tolist(), last.tolist()
    around = zip(begin, end, low.tolist(), high.tolist(), near.tolist(), far.tolist(), strict=True)
    for at, (x, y, a, b, i, j) in enumerate(around):
        number.append(was.setdefault((a, b, x, y), len(was)))
        own = fresh[at]
        if not own:
            now.append(GONE)
            continue
        if j - i == 1:  # the only edited word of its window
            now.append(((*words[a:x], *own, *words[y:b]), x - a + _head(own)))
            continue
        window: list[str] = []
        place, done = 0, a
        for other in range(i, j):
            alone = done <= begin[other] and (other > at or end[other] <= x)
            if other == at or alone:  # of two words in one token, as in an address, only `at` itself
                window += words[done : begin[other]]
                place = len(window) if other == at else place
                window += fresh[other]
                done = end[other]
        now.append(((*window, *words[done:b]), place + _head(own)))
    return [(tuple(words[a:b]), x - a + _head(words[x:y])) for a, b, x, y in was], number, now


@lru_cache(1 << 16)
def _cut(word: str) -> tuple[str, ...]:
    """The tokens of a word: `do` and `n't` of `don't`."""
    return tuple(word[a:b] for sentence in sentences(word) for a, b in sentence)


def _head(tokens: Sequence[str]) -> int:
    """The place of the token that decides a word's part of speech: the one after the last hyphen, else the first."""
    if len(tokens) == 1:
        return 0
    return max((at for at in range(1, len(tokens)) if tokens[at - 1] in HYPHENS), default=0)


def _tokens_in(space: Space) -> TokenTable:
    """The tokens of the originals of a space."""
    known = space.remembered.get("tokens")
    if not isinstance(known, TokenTable):
        known = TokenTable.of(space.column.corpus.strings(), space.column.corpus.offsets)
        space.remembered["tokens"] = known
    return known


def _inside_words(space: Space, first: Ints, last: Ints) -> Mask:
    """Which edits of a space change a part of one word, or all of it, whose tokens are of that word alone. first, last: of the
    tokens that each edit is about.
    """
    known = space.remembered.get("inside words")
    if not isinstance(known, np.ndarray):
        corpus, tokens, (one, end) = space.column.corpus, _tokens_in(space), space.touching
        edits, known = space.all_edits, (end - one == 1) & (last > first)
        at = np.flatnonzero(known)
        place, word = corpus.offsets[edits.row[at]], one[at]
        start, stop = corpus.words.start[word], corpus.words.stop[word]
        changes = (
            (place + edits.start[at] >= start) & (place + edits.stop[at] <= stop) & (edits.start[at] < edits.stop[at])
        )
        known[at] = changes & (tokens.start[first[at]] >= start) & (tokens.stop[last[at] - 1] <= stop)
        space.remembered["inside words"] = known
    return known


def _windows_of_edits(
    space: Space, number: Ints, first: Ints, last: Ints
) -> tuple[list[Window], list[int], list[Window]]:
    """As `windows`, of edits inside words, each alone. first, last: of the tokens of their words."""
    corpus, tokens, originals = space.column.corpus, _tokens_in(space), space.originals[space.side]
    row, word, words = space.all_edits.row[number], space.touching[0][number], tokens.words
    place = corpus.offsets[row]
    begin, end = (corpus.words.start[word] - place).tolist(), (corpus.words.stop[word] - place).tolist()
    low, high = np.maximum(first - NEAR, tokens.begin[first]), np.minimum(last + NEAR, tokens.end[last - 1])
    loud = tokens.loud[first].tolist()
    starts, stops, new = space.places
    was, which, now = list[Window](), list[int](), list[Window]()
    known: tuple[int, int] | None = None
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    around = zip(
        number.tolist(), row.tolist(), begin, end, low.tolist(), first.tolist(), last.tolist(), high.tolist(), loud,
        strict=True,
    )  # fmt: skip
    for one, of, opens, closes, a, x, y, b, capitals in around:
        if (x, y) != known:  # edits of a word follow each other
            known, before, behind = (x, y), tuple(words[a:x]), tuple(words[y:b])
            was.append((tuple(words[a:b]), x - a + _head(words[x:y])))
        which.append(len(was) - 1)
        text = str(originals[of])
        own = _cut(text[opens : starts[one]] + new[one] + text[stops[one] : closes])
        if capitals:
            own = tuple(token.lower() for token in own)
        now.append((before + own + behind, x - a + _head(own)) if own else GONE)
    return was, which, now


EITHER = ("NOUN", "VERB")  # parts of speech that count as equal unless strict


@dataclass(frozen=True)
class PartOfSpeech(Local):
    """Every edited word keeps its universal part of speech, judged among the tokens around it in its sentence.

    strict=False: nouns and verbs may replace each other (TextFooler, Jin et al. 2020). The tagger guesses what a misspelt word
    is, as in the papers. Other edited words nearby are taken as they are after their edits. A word may not be deleted. English
    only.
    """

    strict: bool = True

    name: ClassVar[str] = "pos"
    summary: ClassVar[str] = "edited words keep their part of speech"
    reach = NEAR

    def __post_init__(self) -> None:
        if not isinstance(self.strict, bool):
            raise ValueError(f"expected True or False for pos.strict, got {self.strict!r}")

    allows = Local.allows

    def extent(self, space: Space) -> tuple[Ints, Ints]:
        corpus, (first, last) = space.column.corpus, space.touching
        tokens, words = _tokens_in(space), corpus.words
        some = last > first  # other edits are about no word
        begin, end = (
            corpus.offsets[space.all_edits.row] + place for place in (space.all_edits.start, space.all_edits.stop)
        )
        begin[some], end[some] = words.start[first[some]], words.stop[last[some] - 1]
        return np.searchsorted(tokens.stop, begin, "right"), np.searchsorted(tokens.start, end)

    def _judge(self, candidates: Candidates, groups: list[State], found: Verdicts) -> None:
        """Judges single edits inside a word from the tokens of the originals: no text needs to be written for them."""
        space = candidates.space
        inside = _inside_words(space, found.first, found.last)
        easy = np.array([group[0] for group in groups if len(group) == 1 and inside[group[0]]], np.int64)
        if easy.size:
            found.alone[easy] = self._keep(*_windows_of_edits(space, easy, found.first[easy], found.last[easy]))
        if rest := [group for group in groups if len(group) > 1 or not inside[group[0]]]:
            super()._judge(candidates, rest, found)

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        old, new = edited_words(before, edits)
        fine = self._keep(*windows(before, after, old, new))
        allowed = np.ones(len(before), np.bool_)
        allowed[old.row[~fine]] = False
        return allowed

    def _keep(self, was: Sequence[Window], number: Sequence[int], now: Sequence[Window]) -> Mask:
        """Whether the word of each window in `now` is of the same part of speech as before: as that in was[number]."""
        tags = _tags(was)
        return np.array([self._same(tags[at], tag) for at, tag in zip(number, _tags(now), strict=True)], np.bool_)

    def _same(self, one: str, other: str) -> bool:
        return one == other or (not self.strict and one in EITHER and other in EITHER)


REMEMBERED = 1 << 17  # windows whose tags are kept: searches try them again and again
_known: dict[Window, str] = {}


def _tags(asked: Sequence[Window]) -> list[str]:
    """The universal tag of each window's word; "" for a deleted word."""
    if len(_known) > REMEMBERED:
        _known.clear()
    found = list(map(_known.get, asked))
    if None in found:
        new = list(dict.fromkeys(window for window, tag in zip(asked, found, strict=True) if tag is None))
        for window, tags in zip(new, tag_words([tokens for tokens, _ in new]), strict=True):
            _known[window] = UNIVERSAL[tags[window[1]]] if tags else ""
        found = [_known[window] for window in asked]
    return found  # type: ignore[return-value]  # none is None
