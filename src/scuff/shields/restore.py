"""Restore: words that nobody knows become the words that were meant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.language import find_language
from ..text.ragged import Floats, Ints, Mask, Ragged, sums
from ..text.unicode import case_map, is_white, word_class
from ..text.unicode_data import DIGIT
from ..text.words import Spans
from .base import Repairs, Shield
from .candidates import KINDS, PRIOR, Candidates, candidates
from .channels import Bitcosts
from .hashes import word_bits
from .keys import Spelt
from .lexicon import HYPHEN, folded, lexicon
from .names import NAMES

TIERS = ("fast", "context")
SURE = 4.0  # bits by which a change must be likelier than that the word is right
CLEAN, WORDS = 0.15, 40.0  # wrong words, and words, that every text is taken to have besides its own
LACKED = {"small": 0.0015, "start": 0.006, "title": 0.02, "bare": 0.012}  # how often a right word is in no list, by its case
TURNS = 3  # rounds in which words are chosen beside the choices for their neighbours
PAIR = 0.9  # how much what the neighbours say counts
FOREIGN = 0.25  # the share of unknown words from which on the language of a text is looked at
STRANGE = 0.85  # and from which on it is left alone whatever it is, if it is long enough to tell
BREAKS = np.isin(np.arange(128), [ord(char) for char in '.!?;:"()[]\n'])
MASKS = np.isin(np.arange(128), [ord(char) for char in "*#$%"])  # symbols that hide letters: st*pid
ADDRESS = np.isin(np.arange(128), [ord(char) for char in "@/\\_<>{}=`|#~^"])  # in addresses, mentions, tags, code
SHORT = 5  # letters of a word in capitals that may be an abbreviation


@dataclass(frozen=True, eq=False)
class Puzzle:
    """Words that nobody knows (`asked`, numbers of units) with candidates, and what stands around them.

    units: the words of all texts. number: of each unit in the lexicon, -1 for none. before, after: the unit beside each, -1 where a
    sentence ends. keep: log2 P(this is a right word that the lexicon lacks), of each asked word. found: candidates, `found.of`
    counts asked words; case: log2 P(the word is written in this case), of each candidate.
    """

    units: Spans
    number: Ints
    before: Ints
    after: Ints
    asked: Ints
    keep: Bitcosts
    found: Candidates
    case: Bitcosts
    rows: int

    @property
    def row(self) -> Ints:
        """The text of each asked word."""
        return self.units.row[self.asked]


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
        puzzle = find_puzzle(corpus)
        if puzzle is None:
            return Repairs.none(self.kinds)
        chosen, confidence = choose(puzzle)
        done = np.flatnonzero((chosen >= 0) & (confidence >= SURE))
        pick, spans = chosen[done], puzzle.units.where(puzzle.asked[done])
        new = cased_as(lexicon().words.take(puzzle.found.word[pick]), corpus.cut(spans))
        return Repairs.of(Edits.of(corpus, spans, new), puzzle.found.kind[pick], self.kinds)


# ---- what is asked ----


def find_puzzle(corpus: Corpus) -> Puzzle | None:
    """The words that nobody knows with their candidates; None if there are none. What must stay as it is, is not asked."""
    words = lexicon()
    units = _units(corpus)
    if not len(units):
        return None
    texts = corpus.cut(units)
    keys, first, inverse = np.unique(word_bits(folded(texts)), return_index=True, return_inverse=True)
    distinct = texts.take(first)
    number = words.number(distinct)
    known = (number >= 0) | words.known(distinct)
    number, unknown = number[inverse], ~known[inverse]
    asked = np.flatnonzero(unknown & ~_fixed(corpus, units, texts))
    asked = asked[~_foreign(corpus, units, unknown, asked)[units.row[asked]]]
    if not asked.size:
        return None
    mine, part = np.unique(inverse[asked], return_inverse=True)
    noisy = distinct.take(mine)
    found = candidates(noisy)
    count = np.bincount(found.of, minlength=mine.size)
    edges = np.append(0, np.cumsum(count))
    index = np.concatenate([np.arange(edges[k], edges[k + 1]) for k in part.tolist()] or [np.empty(0, np.int64)])
    found = replace(found.where(index), of=np.repeat(np.arange(asked.size), count[part]))
    before, after, starts = _beside(corpus, units)
    keep, case = _by_case(corpus, units, asked, found, starts)
    keep += letter_bits(Spelt.of(folded(noisy)))[part]
    return Puzzle(units, number, before, after, asked, keep, found, case, len(corpus))


def _units(corpus: Corpus) -> Spans:
    """The words of all texts; compounds and possessives that the lexicon lacks as their parts, words with masked letters whole."""
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
    split = np.flatnonzero(sums((corpus.codes == HYPHEN) | (corpus.codes == 39) | (corpus.codes == 0x2019), corpus.offsets) > 0)
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


def _fixed(corpus: Corpus, units: Spans, texts: Ragged) -> Mask:
    """Which words stay whatever they are: with digits or letters other than a to z, in addresses and code, abbreviations."""
    upper = case_map(upper=True)
    low = folded(texts).codes
    plain = ((low >= ord("a")) & (low <= ord("z"))) | (low == 39) | (low == HYPHEN)
    plain |= (low < 128) & MASKS[np.minimum(low, 127)]
    fixed = sums(~plain, texts.offsets) > 0
    loud = sums(texts.codes != upper[texts.codes], texts.offsets) == 0
    letters = np.bincount(units.row, texts.lengths, len(corpus))
    shouted = np.bincount(units.row, texts.lengths * loud, len(corpus))
    fixed |= loud & (texts.lengths <= SHORT) & (2 * shouted < letters)[units.row]
    fixed |= texts.lengths == 1
    few = np.flatnonzero(~fixed)
    fixed[few] = _in_addresses(corpus, units.where(few))
    return fixed


def _in_addresses(corpus: Corpus, units: Spans) -> Mask:
    """Which units stand in a chunk between blanks that has a sign of an address, a mention, a tag or code, or at an inner dot."""
    code = corpus.codes
    signs = np.append(0, np.cumsum(ADDRESS[np.minimum(code, 127)] & (code < 128)))
    edges = np.flatnonzero(is_white(code))
    edges = np.unique(np.concatenate((edges, corpus.offsets)))
    begin = edges[np.searchsorted(edges, units.start, "right") - 1]
    end = np.append(edges, code.size)[np.searchsorted(edges, units.stop)]
    found = signs[end] > signs[begin]
    around = np.concatenate((np.zeros(2, np.uint32), code, np.zeros(2, np.uint32)))
    solid = np.append(np.append(np.zeros(2, np.bool_), ~is_white(code)), np.zeros(2, np.bool_))
    solid &= (around | 32 >= ord("a")) & (around | 32 <= ord("z")) | ((around >= 48) & (around < 58))
    found |= (around[units.stop + 2] == ord(".")) & solid[units.stop + 3]
    found |= (around[units.start + 1] == ord(".")) & solid[units.start]
    return found


def _foreign(corpus: Corpus, units: Spans, unknown: Mask, asked: Ints) -> Mask:
    """Which texts are in another language, as far as one can tell."""
    total = np.bincount(units.row, minlength=len(corpus))
    strange = np.bincount(units.row[unknown], minlength=len(corpus))
    out = np.zeros(len(corpus), np.bool_)
    doubtful = np.flatnonzero((total >= 4) & (strange >= FOREIGN * total))
    for row, text in zip(doubtful.tolist(), corpus.take(doubtful).strings(), strict=True):
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


def _by_case(
    corpus: Corpus, units: Spans, asked: Ints, found: Candidates, starts: Mask
) -> tuple[Bitcosts, Bitcosts]:
    """What the case of each asked word says: log2 of how often right words written so are unknown, and of how often each candidate
    is written so.
    """
    texts = corpus.cut(units)
    lower = case_map(upper=False)
    capital = texts.codes != lower[texts.codes]
    some = sums(capital, texts.offsets) > 0
    has = np.bincount(units.row, some, len(corpus)) > 0  # a text without any capital says nothing by small letters
    total = np.bincount(units.row, minlength=len(corpus))
    titled = np.bincount(units.row, some, len(corpus)) > 0.6 * total  # nor one in which nearly all words have one
    mine, row = some[asked], units.row[asked]
    says = has[row] & ~titled[row]
    rate = np.where(mine, np.where(starts[asked], LACKED["start"], LACKED["title"]), LACKED["small"])
    rate = np.where(says, rate, LACKED["bare"])
    share = lexicon().capital[found.word]
    written = np.where(mine[found.of], np.where(starts[asked][found.of], 0.5, share), 1 - share)
    bits = np.where(says[found.of], np.log2(np.maximum(written, 0.03)), 0.0)
    return np.log2(rate).astype(np.float32), bits.astype(np.float32)


# ---- what is chosen ----


def choose(puzzle: Puzzle) -> tuple[Ints, Floats]:
    """The candidate (an index of `found`, or -1) of each asked word, and by how many bits it is likelier than that the word is right.

    Words are chosen one by one beside the choices for their neighbours, in a few rounds; how often words are wrong, and what
    is wrong with them, is counted in the text in each round.
    """
    words, found, asked = lexicon(), puzzle.found, puzzle.asked
    number, row, of = puzzle.number.copy(), puzzle.row, found.of
    total = np.bincount(puzzle.units.row, minlength=puzzle.rows).astype(np.float64)
    wrong = np.bincount(row, minlength=puzzle.rows) * 0.5
    usual = np.exp2(-PRIOR) / np.exp2(-PRIOR).sum()
    kinds = np.tile(usual, (puzzle.rows, 1))
    pick, odds = np.full(asked.size, -1), np.full(asked.size, -np.inf)
    for _ in range(TURNS):
        rate = (wrong + CLEAN) / (total + WORDS)
        left, right = (np.where(at >= 0, number[at], -1)[asked][of] for at in (puzzle.before, puzzle.after))
        alone = words.cost[found.word]
        behind = np.where(right >= 0, words.pair_cost(found.word, right) - words.cost[right], 0)
        here = PAIR * (words.pair_cost(left, found.word) + behind - alone) + alone
        score = found.channel + puzzle.case - here + np.log2(kinds[row[of], found.kind] / usual[found.kind])
        pick = _first(of, score, asked.size)
        some = pick >= 0
        odds = np.where(some, score[pick] if score.size else 0, -np.inf)
        odds = odds + np.log2(rate / (1 - rate))[row] - puzzle.keep
        number[asked] = np.where(some & (odds > 0), found.word[pick] if len(found) else -1, puzzle.number[asked])
        likely = 1 / (1 + np.exp2(-np.clip(odds, -50, 50)))
        wrong = np.bincount(row, likely, puzzle.rows)
        if some.any():
            seen = np.zeros((puzzle.rows, len(KINDS)))
            np.add.at(seen, (row[some], found.kind[pick[some]]), likely[some])
            kinds = (seen + 4 * usual) / (seen.sum(1, keepdims=True) + 4)
    return pick, odds


def _first(of: Ints, score: npt.NDArray[np.floating], size: int) -> Ints:
    """The index of the best candidate of each word, -1 for none; of equal ones the first."""
    out = np.full(size, -1)
    order = np.lexsort((np.arange(of.size), -score, of))
    opens = np.append(True, np.diff(of[order]) != 0)[: of.size]
    out[of[order][opens]] = order[opens]
    return out


@cache
def _trigrams() -> Bitcosts:
    """-log2 P(letter | the two before it) of words as such: what a word that no list has looks like."""
    spelt = Spelt.of(lexicon().words)
    key = _letter_contexts(spelt)
    count = np.bincount(key, minlength=30**3).reshape(900, 30).astype(np.float64)
    pairs = count.reshape(30, 30, 30).sum(0)
    single = pairs.sum(0) + 1
    single /= single.sum()
    pairs = (pairs + 5 * single) / (pairs.sum(1, keepdims=True) + 5)
    p = (count + 5 * np.tile(pairs, (30, 1))) / (count.sum(1, keepdims=True) + 5)
    return -np.log2(p).astype(np.float32).ravel()


def _letter_contexts(spelt: Spelt) -> Ints:
    """The number of each letter with the two before it; one more at the end of each word."""
    flat = np.full(spelt.letters.size + 3 * len(spelt), 29, np.int64)
    at = np.arange(spelt.letters.size) + 3 * spelt.word + 2
    flat[at] = spelt.letters
    ends = spelt.offsets[1:] + 3 * np.arange(len(spelt)) + 2
    at = np.sort(np.append(at, ends))
    return (flat[at - 2] * 30 + flat[at - 1]) * 30 + flat[at]


def letter_bits(spelt: Spelt) -> Bitcosts:
    """log2 of the probability of each word as a string of letters that look like English."""
    cost = _trigrams()[_letter_contexts(spelt)]
    return -sums(np.round(cost * 64).astype(np.int64), spelt.offsets + np.arange(len(spelt) + 1)).astype(np.float32) / 64


def cased_as(new: Ragged, old: Ragged) -> Ragged:
    """New words in the case of the old: all capitals, a first capital (also if it slipped inside), or small."""
    upper, lower = case_map(upper=True), case_map(upper=False)
    capital = sums(old.codes != lower[old.codes], old.offsets)
    small = sums(old.codes != upper[old.codes], old.offsets)
    codes = new.codes.copy()
    shout = np.repeat((capital > 1) & (small == 0), new.lengths)
    codes[shout] = upper[codes[shout]]
    first = new.offsets[:-1][capital > 0]
    codes[first] = upper[codes[first]]
    curly = np.repeat(sums(old.codes == 0x2019, old.offsets) > 0, new.lengths)
    codes[curly & (codes == 39)] = 0x2019
    return Ragged(codes, new.offsets)


NAMES["restore"] = Restore
