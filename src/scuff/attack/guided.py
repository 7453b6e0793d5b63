"""Versions of texts as an attacker makes them who sees scores or gradients: important words first, the best of some proposals."""

from __future__ import annotations

import numpy as np

from ..text import Corpus, Edits, Rng
from ..text.choice import choose
from ..text.ragged import Ints, spread
from .fill import ranked
from .oracle import Pool

TRIES = 4  # proposals that a version looks at for each site; which ones is drawn, so that versions differ
WORD_POOL, LETTER_POOL = 8, 3  # proposals for each site that are asked about: of a word, of a single letter


def guided_sites(pool: Pool, corpus: Corpus, example: Ints, rng: Rng, *, whole: bool) -> tuple[Edits, Ints]:
    """For every version one edit per site, the best of those it looks at, and the order in which they should be applied.

    corpus and rng are of the versions, `example` says of which example each is. Sites where even the best raises the score are
    left alone, those where nothing is known come last. whole: edits of whole sentences, where words do not say what matters.
    """
    edits = pool.edits
    first = np.flatnonzero((np.diff(edits.row, prepend=-1) != 0) | (np.diff(edits.site, prepend=-1) != 0))
    count = np.diff(np.append(first, len(edits)))
    edges = np.searchsorted(edits.row[first], np.arange(int(example.max(initial=-1)) + 2))
    each = np.diff(edges)[example]  # sites of each version
    site, version = spread(edges[:-1][example], each), np.repeat(np.arange(example.size), each)
    if not site.size:
        return edits.where(np.empty(0, np.int64)), site
    place = edits.site[first[site]]
    best = np.zeros(0, np.int64)
    for turn in range(TRIES):
        seen = first[site] + rng.stream("look", turn).below(count[site], version, place)
        best = seen if not turn else np.where(pool.gain[seen] > pool.gain[best], seen, best)
    helps = pool.gain[best] >= 0
    best, version, place = best[helps], version[helps], place[helps]
    gain = pool.gain[best]
    matters = gain if whole else pool.importance[best]
    chance = rng.stream("tie").bits(version, place)
    rank = ranked(version, chance, -matters, gain == 0)
    chosen = edits.where(best)
    mine = Edits(version, chosen.start, chosen.stop, chosen.text, chosen.site, chosen.cost)
    order = np.lexsort((mine.stop, mine.start, mine.row))
    return _without_overlaps(mine.where(order), rank[order], rng)


def _without_overlaps(edits: Edits, rank: Ints, rng: Rng) -> tuple[Edits, Ints]:
    """Of edits that overlap the one that goes first stays."""
    first = rank.astype(np.uint64) << np.uint64(40)  # as high as random bits are
    kept = choose(edits.candidates(first), None, rng, "sites", None)
    return edits.where(kept), ranked(edits.row[kept], rank[kept])
