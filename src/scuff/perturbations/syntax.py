"""Syntax: sentences reworded by rules that keep their meaning (english/rewording)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..english.tagger import tagged
from ..metrics.edit import word_distance
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Ragged, bounds, run_lengths, spread
from ..text.random import Rng, some_of_each, text_bits
from ..text.words import Spans
from .base import Facts, Perturbation, sound

if TYPE_CHECKING:
    from ..english.rewording.sentence import Rewording


REMEMBERED = 20_000  # texts whose rewordings are kept


class _Text(NamedTuple):
    """The rewordings of a text, sorted, and the spans of its sentences."""

    rewordings: tuple[Rewording, ...]
    sentences: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class _Found:
    """The rewordings of some texts: site i has rewordings first[i]:first[i + 1], text j has sites sites[j]:sites[j + 1]."""

    sites: Ints
    first: Ints
    start: Ints
    stop: Ints
    new: Ragged
    cost: Ints
    sentences: Ints  # text j has spans sentences[j]:sentences[j + 1]
    spans: Ints

    @classmethod
    def of(cls, texts: list[str]) -> _Found:
        known = _known_texts(texts)
        found = [(row, *each) for row, text in enumerate(known) for each in text.rewordings]
        row, start, stop = (np.array([each[at] for each in found], np.int64) for at in (0, 1, 2))
        old, new = Ragged.of([texts[at][a:b] for at, a, b, _ in found]), Ragged.of([each[3] for each in found])
        first = bounds(run_lengths(row << 32 | start))
        sites = np.searchsorted(row[first[:-1]], np.arange(len(texts) + 1))
        spans = np.array([span for text in known for span in text.sentences], np.int64).reshape(-1, 2)
        sentences = bounds(np.array([len(text.sentences) for text in known], np.int64))
        return cls(sites, first, start, stop, new, word_distance(old, new), sentences, spans)


_kept: OrderedDict[str, _Text] = OrderedDict()

_per_corpus: WeakKeyDictionary[Corpus, tuple[_Found, Ints]] = WeakKeyDictionary()


def _known_texts(texts: list[str]) -> list[_Text]:
    """The rewordings and sentences of each text; those of many texts are kept."""
    from ..english.rewording import rewordings  # reads word lists

    new = [text for text in texts if text not in _kept]
    for text, tokens in zip(new, tagged(new), strict=True):
        edges = [at for at, token in enumerate(tokens) if not at or token.sentence != tokens[at - 1].sentence]
        spans = ((tokens[a].start, tokens[b - 1].stop) for a, b in pairwise([*edges, len(tokens)]))
        _kept[text] = _Text(tuple(sorted({found for _, found in rewordings(text, tokens)})), tuple(spans))
    for text in texts:
        _kept.move_to_end(text)
    known = [_kept[text] for text in texts]
    while len(_kept) > REMEMBERED:
        _kept.popitem(last=False)
    return known


def _known(corpus: Corpus) -> tuple[_Found, Ints]:
    """The rewordings of all different texts, and which of those each text of the corpus is."""
    if corpus not in _per_corpus:
        _, first, text = np.unique(text_bits(corpus), return_index=True, return_inverse=True)
        _per_corpus[corpus] = _Found.of(corpus.take(first).strings()), text.astype(np.int64)
    return _per_corpus[corpus]


@dataclass(frozen=True)
class Syntax(Perturbation):
    """Reword sentences by rules over their tags: the order of clauses, phrases and adverbials, active and passive, clefts, "there
    is", relative clauses, contractions, and other constructions that mean the same. Each rule acts only where tags and words make
    it safe; capitals, commas and spaces follow the text.
    """

    name: ClassVar[str] = "syntax"
    facts: ClassVar[Facts] = Facts(
        summary="reword sentences by rules: order, voice, clefts, contractions",
        paper="RobTest (Chen et al. 2023) 2.1, there without code; after Quirk et al. 1985",
        example="Harmless is what adversarial attacks are.",
        level="sentence",
        tags=("general",),
        scripts="Latin",
        languages=("en",),
        unit="sentences",
        keeps_tokens=False,
    )

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        found, text = _known(corpus)
        count = np.diff(found.sites)[text]
        row, site = np.repeat(np.arange(len(corpus)), count), spread(found.sites[text], count)
        place, options = found.start[found.first[site]], np.diff(found.first)[site]
        if k == 1:
            pick = found.first[site] + rng.stream("rewording").below(options, row, place)
        else:  # k of them, without drawing one twice
            which, option = some_of_each(options, rng.stream("rewordings").bits(row, place), k)
            pick, row, place = found.first[site[which]] + option, row[which], place[which]
        edits = Edits(row, place, found.stop[pick], found.new.take(pick), place, found.cost[pick])
        return sound(edits, corpus)  # a variation selector may stand behind a word

    def units(self, corpus: Corpus) -> Spans:
        """Sentences."""
        found, text = _known(corpus)
        count = np.diff(found.sentences)[text]
        row = np.repeat(np.arange(len(corpus)), count)
        span = found.spans[spread(found.sentences[text], count)]
        return Spans(row, corpus.offsets[row] + span[:, 0], corpus.offsets[row] + span[:, 1])
