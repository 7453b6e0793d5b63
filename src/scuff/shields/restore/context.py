"""Tier `context` of `restore`: a small network reads the text and says which words were changed and which were meant.

Candidates are the words that the network likes best and those of the tables; the network judges both. What is
changed is decided by log odds fitted on dev texts, with and without noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Ints, Mask, Ragged, bounds, spread, sums
from ...text.random import text_bits
from ...text.unicode import case_map, is_ascii_letter
from ..base import Repairs
from ..lexicon import lexicon
from ..technical import attached
from .candidates import MIXED, Candidates, candidates
from .caution import Changes, allowed, clear_slips, decent
from .network import network
from .page import NAME, Page, by_case, cased_as
from .units import Units

Array = npt.NDArray[np.float32]
LOOK_KNOWN, LOOK_UNKNOWN = -1.0, -2.5  # log odds of a change below which no word is ever replaced
TECHNICAL = 4.0  # log odds that a change needs in technical texts
NO_CHANNEL = -40.0  # bits of an error that the tables do not know
RARE, COST = 14.0, 0.69  # what a word that the network does not know gets, and what it loses per bit of its cost
WEIGHTS = np.array(  # of what `judged` returns; build/shields/fit_context.py prints them
    [2.576, 0.48, 3.328, -2.36, -0.603, 0.981, 0.356, 0.266, -0.262,
     -0.495, 0.401, -1.356, -0.716, 0.117, 0.449, -4.081, 1.342, -1.309],
    np.float32,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pairs:
    """Units that were looked at, each with the words that it may stand for, and what speaks for each word.

    look: the units. flag: log odds that each was changed. rate: log share of the other words of its text that were changed.
    found.of: which of `look` a pair is of. score: what the network gives a word. raised: it gets a capital that the unit lacks.
    """

    page: Page
    look: Ints
    flag: Array
    rate: Array
    found: Candidates
    score: Array
    raised: Mask

    @classmethod
    def of(cls, corpus: Corpus) -> Pairs | None:
        """None if there is nothing to look at."""
        units = Units.of(corpus)
        page = Page.of(corpus, units.spans)
        stay = _staying(page)
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
        found = _united(_placed(table, which[look], len(noisy)), net.best(asked[look])[0])
        found = decent(found.where(found.word != page.number[look][found.of]), units.text.take(look))
        _, _, raised = by_case(page, look, found)
        raised &= lexicon().capital[found.word] > NAME
        score = net.scores(asked, look[found.of], found.word)
        return cls(page, look, flag[look], _rate(page, flag)[look], found, score, raised)

    def judged(self) -> tuple[Ints, Array, Array]:
        """The best pair of each unit, the log of its share of all pairs of that unit, and what the decision is made of."""
        found, page = self.found, self.page
        rare = RARE - COST * lexicon().cost[found.word]
        best, share = _best(found.of, self.score + np.where(found.word < network().size, 0, rare))
        mine = found.of[best]
        unit, flag, channel = self.look[mine], np.clip(self.flag[mine], -12, 12), found.channel[best]
        known = ~page.unknown[unit]
        big = _capitals(page)
        capital, bare = big[unit] & ~page.starts[unit], (np.bincount(page.units.row, big) == 0)[page.units.row[unit]]
        length = page.units.stop[unit] - page.units.start[unit]
        own = np.where(page.number[unit] < 0, 0, lexicon().cost[page.number[unit]])
        rate = self.rate[mine]
        few = np.clip(-0.8 - rate / 1.5, 0, 1)  # 1 where hardly another word was changed
        parts = (
            np.ones(unit.size), flag, share, known, capital, channel <= NO_CHANNEL, np.maximum(channel, NO_CHANNEL) / 10,
            known * flag, rate, known * rate, own / 10, np.minimum(length, 10) / 10, page.loud[unit], page.fixed[unit],
            found.word[best] >= network().size, few, few * ~(known | big[unit]), few * bare,
        )  # fmt: skip
        return best, share, np.stack(parts, axis=1).astype(np.float32)


def repairs_in_context(corpus: Corpus, kinds: tuple[str, ...]) -> Repairs:
    """The repairs of tier `context`."""
    pairs = Pairs.of(corpus)
    if pairs is None:
        return Repairs.none(kinds)
    best, _, evidence = pairs.judged()
    row = pairs.page.units.row[pairs.look[pairs.found.of[best]]]
    done = best[
        np.round(evidence @ WEIGHTS, 3) > TECHNICAL * pairs.page.technical[row]
    ]  # rounded: the last bits of a sum decide nothing
    unit = pairs.look[pairs.found.of[done]]
    found = pairs.found
    made = Changes(pairs.page, unit, found.word[done], found.channel[done], found.kind[done])
    page, raised = pairs.page, np.zeros(len(pairs.page.units), np.bool_)
    raised[unit] = pairs.raised[done]
    left = page.unknown & ~page.fixed & ~_capitals(page)
    left[unit] = False
    made = made.and_also(clear_slips(page, np.flatnonzero(left)))
    made = made.where(allowed(made))
    spans = page.units.where(made.unit)
    new = cased_as(lexicon().words.take(made.word), _settled(corpus.cut(spans)), raised[made.unit])
    return Repairs.of(Edits.of(corpus, spans, new), made.kind, kinds)


def _staying(page: Page) -> Mask:
    """Which units stay whatever the network says: with digits, in addresses and code, and without letters a to z."""
    texts = page.corpus.cut(page.units)
    digit = (texts.codes >= ord("0")) & (texts.codes <= ord("9"))
    letters = sums(is_ascii_letter(texts.codes), texts.offsets)
    stay = (3 * letters < texts.lengths) | (sums(digit, texts.offsets) > 0)
    stay |= (letters == 1) & (texts.lengths == 2)  # x̄
    odd = np.flatnonzero(page.fixed & ~stay)
    if odd.size:
        stay[odd] = attached(page.corpus, page.units.where(odd))
    return stay | page.staying


def _capitals(page: Page) -> Mask:
    """Which units begin with a capital letter."""
    code = page.corpus.codes[page.units.start]
    found: Mask = case_map(upper=False)[code] != code
    return found


def _rate(page: Page, flag: Array) -> Array:
    """The log of the share of the other words of each unit's text that were changed, as the network sees it."""
    changed = (1 / (1 + np.exp(-flag.astype(np.float64)))).round(4)
    total = np.bincount(page.units.row, changed, len(page.corpus))[page.units.row] - changed
    return np.log((total + 0.1) / (page.total[page.units.row] + 4)).astype(np.float32)


def _settled(noisy: Ragged) -> Ragged:
    """Noisy words with capitals where words have them: one that slipped inside goes first, an I between small ones was none."""
    upper, lower = case_map(upper=True), case_map(upper=False)
    codes = noisy.codes.copy()
    big = codes != lower[codes]
    beside = np.append(big[1:], True) | np.append(True, big[:-1])
    first = noisy.offsets[:-1]
    inner = np.ones(codes.size, np.bool_)
    inner[first] = inner[noisy.offsets[1:] - 1] = False
    codes[inner & ~beside & (codes == ord("I"))] = ord("i")
    big = codes != lower[codes]
    slipped = (sums(big, noisy.offsets) == 1) & ~big[first]
    codes[np.repeat(slipped, noisy.lengths)] = lower[codes[np.repeat(slipped, noisy.lengths)]]
    codes[first[slipped]] = upper[codes[first[slipped]]]
    return Ragged(codes, noisy.offsets)


def _placed(table: Candidates, of: Ints, size: int) -> Candidates:
    """The candidates of words for each place where they stand."""
    count = np.bincount(table.of, minlength=size)
    index = spread(bounds(count)[:-1][of], count[of])
    return replace(table.where(index), of=np.repeat(np.arange(of.size), count[of]))


def _united(found: Candidates, liked: Ints) -> Candidates:
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
