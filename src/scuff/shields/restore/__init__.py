"""Restore: words that nobody knows become the words that were meant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Floats, Ints, Mask, bounds, spread
from ...text.unicode import case_map
from ..base import Repairs, Shield
from ..lexicon import UNKNOWN, folded, lexicon
from ..trigrams import letter_bits
from .candidates import KINDS, PRIOR, Candidates, candidates
from .caution import Changes, allowed, decent
from .channels import Bitcosts
from .context import repairs_in_context
from .keys import Spelt
from .page import Page, by_case, cased_as

TIERS = ("fast", "context")
# A change must be likelier than that the word is right by SURE bits in a text with few errors, by STEEP fewer for every doubling
# of the errors, and by EASY at least; all chosen on dev texts.
SURE, STEEP, EASY = 4.0, 2.6, -2.5
TITLE = 3.0  # more bits in a clean text, for a word that may be a name
TECHNICAL = 11.0  # more bits in technical texts, which are full of words that no list has
KNOWN = 0.5  # more bits for a word that is known
NOISY = 0.05  # the share of words surely wrong from which on known words are doubted, too
RARE = 12.0  # bits of a known word beside its neighbours from which on it may be doubted
LISTED = -23.0  # log2 of the probability of a word that is right but not frequent enough for the lexicon
NAMELIKE = 0.9  # how much less the letters of a name must look English
SPREAD = 1.0  # errors of the usual kinds that every text is taken to have
CLEAN, WORDS = 0.15, 20.0  # wrong words, and words, that every text is taken to have besides its own
TURNS = 3  # rounds in which words are chosen beside the choices for their neighbours
PAIR = 0.9  # how much what the neighbours say counts


@dataclass(frozen=True, eq=False)
class Puzzle:
    """Words of a page that may be wrong (`asked`, numbers of units) with their candidates: what a tier chooses from.

    keep: log2 P(this is right, though the lexicon lacks it) of each asked word; what is in the lexicon has a cost there. found:
    candidates, whose `of` counts asked words; case: log2 P(the word is written in this case), of each candidate; raised: which
    candidates get a capital that the noisy word has lost. listed, table: the different asked words, and their candidates.
    """

    page: Page
    asked: Ints
    keep: Bitcosts
    found: Candidates
    case: Bitcosts
    raised: Mask
    listed: Ints
    table: Candidates

    @property
    def row(self) -> Ints:
        """The text of each asked word."""
        return self.page.units.row[self.asked]


@dataclass(frozen=True)
class Restore(Shield):
    """Mend misspelt, mistyped, shuffled, shortened and respelt words of English texts.

    A noisy channel: of the words that an error can have made of what is written, the one that the error, the word's frequency and
    its neighbours make likeliest, if that is likelier than a word that the lexicon lacks. How likely errors are is learnt from
    the text itself, so that the few unknown words of a clean text stay. Known words, numbers, addresses, mentions, tags, words
    with digits, abbreviations, other scripts and texts in other languages stay as they are.

    tier: "fast" takes tables only; "context" lets a small network read the sentence.
    """

    tier: Literal["fast", "context"] = "fast"

    name: ClassVar[str] = "restore"
    summary: ClassVar[str] = "misspelt, shuffled, shortened and respelt words become the words that were meant"
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def __post_init__(self) -> None:
        if self.tier not in TIERS:
            raise ValueError(f"expected fast or context for restore.tier, got {self.tier!r}")

    def mend(self, corpus: Corpus) -> Repairs:
        if self.tier == "context":
            return repairs_in_context(corpus, self.kinds)
        page = Page.of(corpus)
        asked = np.flatnonzero(page.unknown & ~page.fixed)
        if not asked.size:
            return Repairs.none(self.kinds)
        puzzle = find_puzzle(page, asked, None)
        chosen, confidence = choose(puzzle, TURNS - 1)
        noisy = _noisy(page, puzzle, chosen, confidence)
        done = self._done(puzzle, chosen, confidence, ~noisy[puzzle.row])
        if noisy.any():
            doubted = _doubted(page, puzzle, chosen, confidence, noisy)
            more = find_puzzle(page, np.sort(np.append(asked[noisy[puzzle.row]], doubted)), puzzle)
            done = Repairs.join([done, self._done(more, *choose(more), np.ones(more.asked.size, np.bool_))])
        return done

    def _done(self, puzzle: Puzzle, chosen: Ints, confidence: Floats, where: Mask) -> Repairs:
        """The repairs of the choices that are sure enough."""
        done = np.flatnonzero((chosen >= 0) & (confidence >= 0) & where)
        found, pick = puzzle.found, chosen[done]
        would = Changes(puzzle.page, puzzle.asked[done], found.word[pick], found.channel[pick], found.kind[pick])
        done = done[allowed(would)]
        corpus, pick = puzzle.page.corpus, chosen[done]
        spans = puzzle.page.units.where(puzzle.asked[done])
        new = cased_as(lexicon().words.take(puzzle.found.word[pick]), corpus.cut(spans), puzzle.raised[pick])
        return Repairs.of(Edits.of(corpus, spans, new), puzzle.found.kind[pick], self.kinds)


# ---- what is asked ----


def find_puzzle(page: Page, asked: Ints, earlier: Puzzle | None) -> Puzzle:
    """The candidates for some units. earlier: a puzzle of others, whose candidates are not looked for again."""
    mine, part = np.unique(page.kind[asked], return_inverse=True)
    strange = np.zeros(len(page.distinct), np.bool_)
    strange[page.kind] = page.unknown
    known, left, parts = ~strange[mine], np.ones(mine.size, np.bool_), []
    if earlier is not None:
        left = ~np.isin(mine, earlier.listed)
        again = earlier.table.where(np.isin(earlier.listed, mine)[earlier.table.of])
        parts.append(replace(again, of=np.searchsorted(mine, earlier.listed)[again.of]))
    for some, near in ((np.flatnonzero(left & ~known), False), (np.flatnonzero(left & known), True)):
        noisy = page.distinct.take(mine[some])
        new = decent(candidates(noisy, near=near), noisy)
        parts.append(replace(new, of=some[new.of]))
    table = Candidates.join(parts)
    count = np.bincount(table.of, minlength=mine.size)
    index = spread(bounds(count)[:-1][part], count[part])
    found = replace(table.where(index), of=np.repeat(np.arange(asked.size), count[part]))
    other = found.word != page.number[asked][found.of]
    found = found.where(other)
    keep, case, raised = by_case(page, asked, found)
    spelt = Spelt.of(folded(page.distinct.take(mine)))
    begin = page.corpus.codes[page.units.start[asked]]
    name = (begin != case_map(upper=False)[begin]) & ~page.starts[asked]
    looks = letter_bits(spelt)[part] * np.where(name, NAMELIKE, 1)
    keep = np.where(page.unknown[asked], keep + looks, LISTED).astype(np.float32)
    return Puzzle(page, asked, keep, found, case, raised, mine, table)


def _noisy(page: Page, puzzle: Puzzle, chosen: Ints, confidence: Floats) -> Mask:
    """Which texts are full of errors."""
    sure = np.bincount(puzzle.row[(chosen >= 0) & (confidence >= 0)], minlength=len(page.corpus))
    found: Mask = (sure >= 2) & (sure >= NOISY * page.total)
    return found


def _doubted(page: Page, puzzle: Puzzle, chosen: Ints, confidence: Floats, noisy: Mask) -> Ints:
    """Known words of noisy texts that are asked as well: those that are rare where they stand."""
    number = page.number.copy()
    done = np.flatnonzero((chosen >= 0) & (confidence >= 0))
    number[puzzle.asked[done]] = puzzle.found.word[chosen[done]]
    mine = np.flatnonzero(noisy[page.units.row] & ((~page.unknown & ~page.fixed) | (page.loud & page.fixed)))
    mine = mine[(page.units.stop - page.units.start)[mine] > 1]
    mine = mine[~page.loud[mine] | ((page.units.stop - page.units.start)[mine] > 3)]
    left, right = (np.where(at[mine] >= 0, number[at[mine]], -1) for at in (page.before, page.after))
    rare = (page.number[mine] < 0) | (beside_cost(page.number[mine], left, right) >= RARE)
    return mine[rare]


# ---- what is chosen ----


def choose(puzzle: Puzzle, turns: int = TURNS) -> tuple[Ints, Floats]:
    """The candidate (an index of `found`, or -1) of each asked word, and the confidence, which is below 0 if the word is to stay.

    Words are chosen one by one beside the choices for their neighbours, in a few rounds; how often words are wrong, and what
    is wrong with them, is counted in the text in each round. Confidence: by how many bits the candidate is likelier than that the
    word is right, less those that are asked for, which are many in a clean text.
    """
    page, found, asked = puzzle.page, puzzle.found, puzzle.asked
    number, row, of = page.number.copy(), puzzle.row, found.of
    rows, total = len(page.corpus), page.total.astype(np.float64)
    unknown = page.unknown[asked]
    begin = page.corpus.codes[page.units.start[asked]]
    title = begin != case_map(upper=False)[begin]
    wrong = np.bincount(row, unknown * 0.5, rows)
    usual = np.exp2(-PRIOR) / np.exp2(-PRIOR).sum()
    kinds = np.tile(usual, (rows, 1))
    pick, odds = np.full(asked.size, -1), np.full(asked.size, -np.inf)
    left = right = np.full(asked.size, -2)  # no neighbours yet
    beside, own = np.empty(of.size, np.float32), np.empty(asked.size, np.float32)
    for _ in range(turns):
        rate = (wrong + CLEAN) / (total + WORDS)
        were = left, right
        left, right = (np.where(at[asked] >= 0, number[at[asked]], -1) for at in (page.before, page.after))
        moved = (left != were[0]) | (right != were[1])  # words whose neighbours are others than in the last round
        again, mine = np.flatnonzero(moved[of]), np.flatnonzero(moved)
        beside[again] = beside_cost(found.word[again], left[of[again]], right[of[again]])
        own[mine] = beside_cost(page.number[asked[mine]], left[mine], right[mine])
        score = found.channel + puzzle.case - beside
        score = score + np.log2(kinds[row[of], found.kind] / usual[found.kind])
        pick = _first(of, score, asked.size)
        some = pick >= 0
        keep = np.where(page.number[asked] >= 0, -own, puzzle.keep)
        odds = np.where(some, score[pick] if score.size else 0, -np.inf) + np.log2(rate / (1 - rate))[row] - keep
        sure = (
            np.clip(SURE - STEEP * np.log2(rate / 0.02), EASY, SURE + 3)[row]
            + np.where(unknown, 0, KNOWN)
            + TITLE * title
            + TECHNICAL * page.technical[row]
        )
        number[asked] = np.where(some & (odds > sure), found.word[pick] if len(found) else -1, page.number[asked])
        likely = 1 / (1 + np.exp2(-np.clip(odds - np.where(unknown, 0, KNOWN), -50, 50)))
        wrong = np.bincount(row, likely, rows)
        if some.any():
            seen = np.zeros((rows, len(KINDS)))
            np.add.at(seen, (row[some], found.kind[pick[some]]), likely[some])
            kinds = (seen + SPREAD * usual) / (seen.sum(1, keepdims=True) + SPREAD)
    return pick, odds - sure


def beside_cost(word: Ints, left: Ints, right: Ints) -> Bitcosts:
    """Bits of a word between two others: its own, and what the pairs that it is in add or save. -1: no or an unknown word."""
    words = lexicon()
    alone = np.where(word >= 0, words.cost[word], UNKNOWN)
    behind = np.where(right >= 0, words.pair_cost(word, right) - words.cost[right], 0)
    ahead = np.where(word >= 0, words.pair_cost(left, word) - alone, 0)
    return (alone + PAIR * (ahead + np.where(word >= 0, behind, 0))).astype(np.float32)


def _first(of: Ints, score: npt.NDArray[np.floating], size: int) -> Ints:
    """The index of the best candidate of each word, -1 for none; of equal ones the first. `of` is sorted."""
    out = np.full(size, -1)
    if of.size:
        opens = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
        best = np.repeat(np.maximum.reduceat(score, opens), np.diff(np.append(opens, of.size)))
        hits = np.flatnonzero(score == best)[::-1]
        out[of[hits]] = hits  # the first is written last
    return out
