"""Restore: words that nobody knows become the words that were meant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.language import find_language
from ..text.ragged import Floats, Ints, Mask, Ragged, bounds, spread, sums
from ..text.unicode import case_map, is_white
from ..text.words import Spans
from .base import Repairs, Shield
from .candidates import KINDS, PRIOR, Candidates, candidates
from .channels import Bitcosts
from .hashes import word_bits
from .keys import Spelt
from .letters import letter_bits
from .lexicon import HYPHEN, UNKNOWN, folded, lexicon

TIERS = ("fast", "context")
# A change must be likelier than that the word is right by SURE bits in a text with few errors, by STEEP fewer for every doubling
# of the errors, and by EASY at least; all chosen on dev texts.
SURE, STEEP, EASY = 4.0, 2.6, -2.5
TITLE, FARTHER = (
    3.0,
    4.0,
)  # more bits in a clean text, for a word that may be a name, and for far-fetched kinds of errors
FETCHED = np.isin(KINDS, ("keyboard", "mixed"))  # which are far-fetched if there is no sign of an attack
FEW, MANY = 0.02, 0.06  # the shares of wrong words in a clean text, and in one that is not
KNOWN = 0.5  # more bits for a word that is known
NOISY = 0.05  # the share of words surely wrong from which on known words are doubted, too
RARE = 12.0  # bits of a known word beside its neighbours from which on it may be doubted
LISTED = -23.0  # log2 of the probability of a word that is right but not frequent enough for the lexicon
NAMELIKE = 0.9  # how much less the letters of a name must look English
NAME = 0.9  # the share of capitals from which on a word is a name
SPREAD = 1.0  # errors of the usual kinds that every text is taken to have
CLEAN, WORDS = 0.15, 20.0  # wrong words, and words, that every text is taken to have besides its own
# how often a right word is in no list: small, at the start of a sentence, with a capital inside it, in a text without capitals
LACKED = {"small": 0.0015, "start": 0.006, "title": 0.02, "bare": 0.03}
TURNS = 3  # rounds in which words are chosen beside the choices for their neighbours
PAIR = 0.9  # how much what the neighbours say counts
FOREIGN = 0.25  # the share of unknown words from which on the language of a text is looked at
FUNCTION, ENGLISH = 60, 0.12  # so many of the most frequent words make up at least that share of most English texts
BREAKS = np.isin(np.arange(128), [ord(char) for char in '.!?;:"()[]\n'])
MASKS = np.isin(np.arange(128), [ord(char) for char in "*#$%"])  # symbols that hide letters: st*pid
ADDRESS = np.isin(np.arange(128), [ord(char) for char in "@\\_<>{}=`|#~^"])  # in addresses, mentions, tags, code
SHORT = 5  # letters of a word in capitals that may be an abbreviation


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
            from .context import repairs_in_context  # reads this file, and takes long to load

            return repairs_in_context(corpus, self.kinds)
        page = Page.of(corpus)
        asked = np.flatnonzero(page.unknown & ~page.fixed)
        asked = asked[~_foreign(page)[page.units.row[asked]]]
        if not asked.size:
            return Repairs.none(self.kinds)
        puzzle = find_puzzle(page, asked, None)
        chosen, confidence = choose(puzzle, TURNS - 1)
        noisy = _noisy(page, puzzle, chosen, confidence)
        done = self._done(puzzle, chosen, confidence, ~noisy[puzzle.row])
        if noisy.any():
            doubted = _doubted(page, puzzle, chosen, confidence, noisy)
            more = find_puzzle(page, np.sort(np.append(asked[noisy[puzzle.row]], doubted)), puzzle)
            done = _both(done, self._done(more, *choose(more), np.ones(more.asked.size, np.bool_)))
        return done

    def _done(self, puzzle: Puzzle, chosen: Ints, confidence: Floats, where: Mask) -> Repairs:
        """The repairs of the choices that are sure enough."""
        done = np.flatnonzero((chosen >= 0) & (confidence >= 0) & where)
        corpus, pick = puzzle.page.corpus, chosen[done]
        spans = puzzle.page.units.where(puzzle.asked[done])
        new = cased_as(lexicon().words.take(puzzle.found.word[pick]), corpus.cut(spans), puzzle.raised[pick])
        return Repairs.of(Edits.of(corpus, spans, new), puzzle.found.kind[pick], self.kinds)


def _both(one: Repairs, other: Repairs) -> Repairs:
    """Repairs of different texts together, in order."""
    edits = Edits.join([one.edits, other.edits])
    order = np.lexsort((edits.start, edits.row))
    return Repairs(edits.where(order), np.append(one.kind, other.kind)[order], one.kinds)


# ---- what is asked ----


@dataclass(frozen=True, eq=False)
class Page:
    """The words of all texts (`units`), and what is known of each.

    distinct: the different words, kind: which of them each unit is. number: of a unit in the lexicon, -1 for none. before,
    after: the unit beside each, -1 where a sentence ends; starts: which units begin one. fixed: what must stay.
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

    @classmethod
    def of(cls, corpus: Corpus, units: Spans | None = None) -> Page:
        words, units = lexicon(), _units(corpus) if units is None else units
        texts = corpus.cut(units)
        _, first, kind = np.unique(word_bits(folded(texts)), return_index=True, return_inverse=True)
        distinct = texts.take(first)
        number = words.number(distinct)
        known = (number >= 0) | words.known(distinct)
        fixed, loud = _fixed(corpus, units, texts)
        return cls(corpus, units, distinct, kind, number[kind], ~known[kind], fixed, loud, *_beside(corpus, units))

    @cached_property
    def total(self) -> Ints:
        """How many units each text has."""
        return self.units.per_row(len(self.corpus))


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
        new = candidates(page.distinct.take(mine[some]), near=near)
        parts.append(replace(new, of=some[new.of]))
    table = Candidates.join(parts)
    count = np.bincount(table.of, minlength=mine.size)
    index = spread(bounds(count)[:-1][part], count[part])
    found = replace(table.where(index), of=np.repeat(np.arange(asked.size), count[part]))
    other = found.word != page.number[asked][found.of]
    found = found.where(other)
    keep, case, raised = _by_case(page, asked, found)
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
    split = np.flatnonzero(
        sums((corpus.codes == HYPHEN) | (corpus.codes == 39) | (corpus.codes == 0x2019), corpus.offsets) > 0
    )
    return _parts(corpus, words) if split.size else words


def _parts(corpus: Corpus, words: Spans) -> Spans:
    """The words, but unknown ones with hyphens cut into their parts, and without a possessive 's."""
    code = corpus.codes
    marks = np.flatnonzero((code == HYPHEN) | (code == 39) | (code == 0x2019))
    of = np.searchsorted(words.start, marks, "right") - 1
    inside = (of >= 0) & (marks < words.stop[of])
    marks, of = marks[inside], of[inside]
    some = np.unique(of)
    if not some.size:
        return words
    new = some[~lexicon().known(corpus.cut(words.where(some)))]
    cut = np.isin(of, new)
    own = (code[marks] != HYPHEN) & (marks + 2 == words.stop[of]) & (np.append(code, 0)[marks + 1] | 32 == ord("s"))
    cut &= (code[marks] == HYPHEN) | own
    marks, of, own = marks[cut], of[cut], own[cut]
    start = np.concatenate((words.start, marks[~own] + 1))
    row = np.concatenate((words.row, words.row[of[~own]]))
    stop = np.sort(np.concatenate((np.delete(words.stop, of[own]), marks)))
    order = np.argsort(start, kind="stable")
    start, row = start[order], row[order]
    real = stop > start
    return Spans(row[real], start[real], stop[real])


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
        fixed[few] = _in_addresses(corpus, units.where(few))
    loud &= ~fixed & (texts.lengths <= SHORT) & (2 * shouted < letters)[units.row]
    return fixed | loud, loud


def _in_addresses(corpus: Corpus, units: Spans) -> Mask:
    """Which units stand in a chunk between blanks that has a sign of an address, a mention, a tag or code, or at an inner dot."""
    code = corpus.codes
    white = is_white(code)
    opens = white.copy()
    opens[corpus.offsets[:-1][corpus.lengths > 0]] = True
    chunk = np.cumsum(opens)
    low = np.minimum(code, 127)
    signs = np.bincount(chunk[ADDRESS[low] & (code < 128)], minlength=int(chunk[-1]) + 1)
    slashes = np.bincount(chunk[code == ord("/")], minlength=int(chunk[-1]) + 1)  # and/or is no address
    found = ((signs > 0) | (slashes > 1))[chunk[units.start]]
    around = np.concatenate((np.zeros(2, np.uint32), code, np.zeros(2, np.uint32)))
    solid = ((around | 32) >= ord("a")) & ((around | 32) <= ord("z")) | ((around >= ord("0")) & (around <= ord("9")))
    inside = units.stop < corpus.offsets[units.row + 1]
    found |= inside & (around[units.stop + 2] == ord("("))  # print(x)
    inside = units.stop + 1 < corpus.offsets[units.row + 1]
    found |= inside & (around[units.stop + 2] == ord(".")) & solid[units.stop + 3]
    inside = units.start - 1 > corpus.offsets[units.row]
    found |= inside & (around[units.start + 1] == ord(".")) & solid[units.start]
    return found


def _foreign(page: Page) -> Mask:
    """Which texts are in another language, as far as one can tell."""
    strange = np.bincount(page.units.row[page.unknown], minlength=len(page.corpus))
    out = np.zeros(len(page.corpus), np.bool_)
    usual = np.bincount(page.units.row[(page.number >= 0) & (page.number < FUNCTION)], minlength=len(page.corpus))
    odd = (strange >= FOREIGN * page.total) | (usual <= ENGLISH * page.total)
    doubtful = np.flatnonzero(odd & (page.total >= 4) & (strange > 0))
    for row, text in zip(doubtful.tolist(), page.corpus.take(doubtful).strings(), strict=True):
        language = find_language([text])
        out[row] = language is not None and "en" not in language.codes
    return out


def _beside(corpus: Corpus, units: Spans) -> tuple[Ints, Ints, Mask]:
    """The unit before and after each, -1 where a sentence ends between them, and which units begin a sentence."""
    ends = np.append(0, np.cumsum(BREAKS[np.minimum(corpus.codes, 127)] & (corpus.codes < 128)))
    follows = np.zeros(len(units), np.bool_)
    follows[1:] = (units.row[1:] == units.row[:-1]) & (ends[units.start[1:]] == ends[units.stop[:-1]])
    index = np.arange(len(units))
    return np.where(follows, index - 1, -1), np.where(np.append(follows[1:], False), index + 1, -1), ~follows


def _by_case(page: Page, asked: Ints, found: Candidates) -> tuple[Bitcosts, Bitcosts, Mask]:
    """What the case of each asked word says: log2 of how often right words written so are unknown, log2 of how often each
    candidate is written so, and which candidates get a capital letter that the noisy word does not have.
    """
    rows, units, words = len(page.corpus), page.units, lexicon()
    texts = page.corpus.cut(units)
    capital = texts.codes != case_map(upper=False)[texts.codes]
    some = sums(capital, texts.offsets) > 0
    many = np.bincount(units.row, some, rows)
    says = (many > 0) & (
        many <= 0.6 * page.total
    )  # a text without any capital, or with one in nearly all words, says nothing
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
    for _ in range(turns):
        rate = (wrong + CLEAN) / (total + WORDS)
        left, right = (np.where(at[asked] >= 0, number[at[asked]], -1) for at in (page.before, page.after))
        score = found.channel + puzzle.case - beside_cost(found.word, left[of], right[of])
        score = score + np.log2(kinds[row[of], found.kind] / usual[found.kind])
        pick = _first(of, score, asked.size)
        some = pick >= 0
        keep = np.where(page.number[asked] >= 0, -beside_cost(page.number[asked], left, right), puzzle.keep)
        odds = np.where(some, score[pick] if score.size else 0, -np.inf) + np.log2(rate / (1 - rate))[row] - keep
        sure = (
            np.clip(SURE - STEEP * np.log2(rate / 0.02), EASY, SURE + 3)[row]
            + np.where(unknown, 0, KNOWN)
            + TITLE * title
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
