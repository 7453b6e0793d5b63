"""Tier `context` of `restore`: a small network reads the text and says which words were changed and which were meant.

Candidates are the words that the network likes best and those of the tables; both the network and the error's likelihood judge them.
What is changed is decided by log odds fitted on dev texts, with and without noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Mask, bounds, spread
from ..text.random import text_bits
from ..text.unicode import case_map
from .base import Repairs
from .candidates import MIXED, Candidates, candidates
from .lexicon import lexicon
from .network import network
from .restore import Page, _by_case, _foreign, cased_as
from .units import Units

Array = npt.NDArray[np.float32]
LOOK_KNOWN, LOOK_UNKNOWN = -3.0, -6.0  # log odds of a change below which a word is not looked at
CHANNEL = 0.1  # how much a bit of the error counts beside the network
CASE = 0.1  # and a bit of capital letters
NO_CHANNEL = -40.0  # bits of an error that the tables do not know
RARE = 8.0  # what a word that the network does not know gets, less what it costs
WEIGHTS = np.array([-2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], np.float32)  # of `_evidence`


@dataclass(frozen=True, eq=False)
class Proposals:
    """The best word for each unit that was looked at."""

    page: Page
    unit: Ints
    word: Ints
    kind: Ints
    raised: Mask
    evidence: Array

    @property
    def odds(self) -> Array:
        """Log odds that the change is right, rounded so that the last bits of a sum decide nothing."""
        return np.round(self.evidence @ WEIGHTS, 3)


def repairs_in_context(corpus: Corpus, kinds: tuple[str, ...]) -> Repairs:
    found = propose(corpus)
    if found is None:
        return Repairs.none(kinds)
    done = np.flatnonzero(found.odds > 0)
    spans = found.page.units.where(found.unit[done])
    new = cased_as(lexicon().words.take(found.word[done]), corpus.cut(spans), found.raised[done])
    return Repairs.of(Edits.of(corpus, spans, new), found.kind[done], kinds)


def propose(corpus: Corpus) -> Proposals | None:
    """The best word for each unit that may have been changed; None if there is none."""
    units = Units.of(corpus)
    page = Page.of(corpus, units.spans)
    stay = page.fixed | _foreign(page)[page.units.row]
    if stay.all():
        return None
    net = network()
    _, first, which = np.unique(text_bits(units.text), return_index=True, return_inverse=True)
    noisy = units.text.take(first)
    lacked = np.flatnonzero(page.unknown[first])
    table = candidates(noisy.take(lacked))
    table = replace(table, of=lacked[table.of])
    flag, asked = net.read(noisy, which, table, page.units.row, *units.gaps())
    look = np.flatnonzero(~stay & (flag > np.where(page.unknown, LOOK_UNKNOWN, LOOK_KNOWN)))
    if not look.size:
        return None
    new = np.setdiff1d(which[look], lacked)
    more = candidates(noisy.take(new))
    table = Candidates.join([table, replace(more, of=new[more.of])])
    pairs = _pairs(_spread(table, which[look], len(noisy)), net.best(asked[look])[0])
    pairs = pairs.where(pairs.word != page.number[look][pairs.of])
    _, case, raised = _by_case(page, look, pairs)
    score = net.scores(asked, look[pairs.of], pairs.word)
    cost = lexicon().cost[pairs.word]
    score += np.where(pairs.word >= net.size, RARE - np.float32(0.693) * cost, 0)
    score += CHANNEL * pairs.channel + CASE * case
    best, share = _best(pairs.of, score)
    unit = look[pairs.of[best]]
    evidence = _evidence(page, unit, flag[unit], share, pairs.channel[best], cost[best])
    return Proposals(page, unit, pairs.word[best], pairs.kind[best], raised[best], evidence)


def _spread(table: Candidates, of: Ints, size: int) -> Candidates:
    """The candidates of words for each place where they stand."""
    count = np.bincount(table.of, minlength=size)
    index = spread(bounds(count)[:-1][of], count[of])
    return replace(table.where(index), of=np.repeat(np.arange(of.size), count[of]))


def _pairs(found: Candidates, liked: Ints) -> Candidates:
    """The candidates of the tables and those of the network, each pair once."""
    of, word = np.repeat(np.arange(len(liked)), liked.shape[1]), liked.ravel()
    far = np.full(word.size, NO_CHANNEL, np.float32)
    return Candidates.join([found, Candidates(of, word, far, np.full(word.size, MIXED))])


def _best(of: Ints, score: Array) -> tuple[Ints, Array]:
    """The pair with the best score of each word, and the log of its share of all pairs of that word."""
    score = np.round(score, 3)
    order = np.lexsort((-score, of))
    opens = np.flatnonzero(np.diff(of[order], prepend=-1))
    top = score[order][opens]
    size = np.diff(np.append(opens, of.size))
    total = np.add.reduceat(np.exp(score[order] - np.repeat(top, size)), opens)
    return order[opens], -np.log(total)


def _evidence(page: Page, unit: Ints, flag: Array, share: Array, channel: Array, cost: Array) -> Array:
    """What the decision is made of, per proposal."""
    known = ~page.unknown[unit]
    code = page.corpus.codes[page.units.start[unit]]
    capital = (case_map(upper=False)[code] != code) & ~page.starts[unit]
    parts = (
        np.ones(unit.size), np.clip(flag, -12, 12), share, known, capital, channel <= NO_CHANNEL,
        np.clip(channel, NO_CHANNEL, 0) / 10, known * flag,
    )  # fmt: skip
    return np.stack(parts, axis=1).astype(np.float32)
