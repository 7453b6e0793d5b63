"""The proposals of several perturbations together, as a search needs them: at sites that never get into each other's way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import index

import numpy as np

from ..text import Corpus, Edits
from ..text.edits import NEVER
from ..text.hash import counters, mix, name_bits, text_bits
from ..text.ragged import Ints
from .base import Perturbation
from .protect import Protect


def all_proposals(
    parts: Sequence[tuple[Perturbation, int]], corpus: Corpus, seed: int = 0, protect: Protect | None = None
) -> Edits:
    """Up to so many alternatives of each perturbation for every place that it can change, in order of rows and sites.

    Edits that overlap, change the same word or insert at the same place have one site, named by where it begins; so one edit of
    each site, whichever, may be applied together. The same replacement of the same stretch comes once, by the part that is named
    first; inside a site parts keep their order, and so do the draws of each. Parts work at strength 0: one whose `phi` is open
    changes exactly one letter of a word.
    """
    if not parts:
        raise ValueError("expected at least one perturbation to propose edits, got none")
    found = []
    for at, (part, k) in enumerate(parts):
        turn = [other.name for other, _ in parts[:at]].count(part.name)
        own = int(name_bits(index(seed), turn)) if turn else seed  # two typos must not both hit the same letter
        found.append(part.proposals(corpus, 0.0, seed=own, k=k, protect=protect))
    edits = Edits.join(found)
    edits = edits.where(_first_of_each(edits))
    edits = replace(edits, site=_sites(edits, corpus))
    return edits.where(np.lexsort((edits.site, edits.row)))


def _first_of_each(edits: Edits) -> Ints:
    """Where each different edit comes first."""
    key = text_bits(edits.text)
    for field in (edits.row, edits.start, edits.stop):
        key = mix(key + counters(field))
    return np.sort(np.unique(key, return_index=True)[1])


def _sites(edits: Edits, corpus: Corpus) -> Ints:
    """Where the group of each edit begins: edits that overlap, each counted from the beginning of the first word it changes."""
    words, apart = corpus.words, corpus.offsets[edits.row] + edits.row  # so that two documents never touch
    start, stop = apart + edits.start, apart + edits.stop
    first = np.searchsorted(words.stop + words.row, start, "right")
    begin = np.minimum(start, np.append(words.start + words.row, NEVER)[first])
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(stop[order])
    opens = np.append(True, begin[1:] >= reach[:-1])[: order.size]  # insertions at one place are named alike, too
    site = np.empty_like(begin)
    site[order] = begin[opens][np.cumsum(opens) - 1]
    return site - apart
