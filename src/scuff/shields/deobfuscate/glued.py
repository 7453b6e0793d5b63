"""Which words of a text are several that run together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ...text.corpus import Corpus
from ...text.ragged import Codes, Floats, Ints, Mask, Ragged, bounds, spread, sums
from ...text.random import counters, mix, one_edit_away
from ...text.unicode import classes, is_ascii_letter, is_white, word_class
from ...text.unicode_data import LOWER, UPPER
from ...text.words import Spans
from ..hashes import word_bits
from ..language import english
from ..lexicon import folded, lexicon
from ..normalise.look_alikes import LETTER, ORDINARY, look_alikes
from ..restore.candidates import candidates
from ..restore.caution import offensive
from ..technical import BESIDE, Technical, attached
from .costs import among, bits_of_tampering, one_of
from .errors import Errors
from .misspelt import Prices
from .splitting import OPENING, WIDTHS, Splits, split, words_at

SHORTEST = 3
WHOLE, PER_LETTER = 16.0, 3.8  # bits of a word that is not in the lexicon, and of each of its letters
NAME, RARE = 19.0, 15.0  # bits of a name; words of the lexicon below these are never split
# bits by which a split counts as seen: with a function word at an end, with one among three, of three words, of any two
CLEAR, SEVERAL, LONG, VERY_LONG = 15.0, 20.0, 26.0, 30.0
SAID = 2.0  # bits of each letter of words that are often said together
NAMED = 10.0  # more bits where two words would begin with a capital, as names do
# letters of a part, on average, of splits into three and more; of four and more clear ones
LETTERS, FEW_LETTERS = 3.1, 2.7
# more bits where two short words could be a compound, and where one of them is often a part of words
COMPOUND, AFFIX = 4.0, 10.0
# blanks that are missing are seldom alone: each split that is seen counts twice; bits that are paid in any case
OFTEN, LEAST = 2, 1.0
BUSY = 6.0  # bits of a missing blank up to which weaker signs count
LIKELY = 13.0  # bits by which several splits of one text count, too
# bits of a missing blank in a text without others, of a wrong letter, of a wrong first letter
GLUED, TYPO, FIRST = 13.0, 13.0, 4.0
TYPED = 12  # letters of a word up to which it may rather be a misspelt one
DROPPED = 8  # letters of a word below which its last `in` may be `ing`
# bits of an error where every word has one; what a missing blank beside errors saves
ERROR, FEWER = -0.5, 3.0
ODD = 0.2  # the share of words that are not known from which words with errors may prove that blanks are missing
TOLD, ENOUGH = 2.0, 0.2  # bits by which such a split counts, and the share of words with errors that have to be such
ROUGHLY = 2  # words of a text that seem to run together at a glance, below which nothing is looked up for that
TURNS = 2  # rounds in which words with errors are parted by what was counted in the round before
PROSE = "of the and from with at was were between in for"  # with which few names of code begin
MORE = 3  # words that run together for sure, beside one for each technical span, which a technical text may have
CODED = "error exception warning handler parser stack list message processor type id class object set map form request"
AFFIXES = (
    "over under super un com auto inter radio non re pre anti multi post sub semi out back down up mini micro mega ultra "
    "cross self counter para pro bi tri co de dis mis em en air able wise less like ness ism ing ed er ers man men son "
    "eur ally ly ship s"
)


@dataclass(frozen=True, eq=False)
class Glued:
    """Where blanks are missing, and which letters of the words that they part become plain ones."""

    row: Ints
    at: Ints
    letter_row: Ints
    letter_at: Ints
    letter: Codes


def find_glued(corpus: Corpus, technical: Technical, tampered: Ints) -> Glued:
    """Finds where blanks are missing inside words. Technical texts are full of names such as localhost."""
    words = with_clitics(corpus)
    plain = Ragged(_plain(corpus.codes), corpus.offsets)
    right = lexicon().known(corpus.cut(words))
    other = bounds(plain.codes != corpus.codes)
    disguised = (other[words.stop] > other[words.start]) & ~right
    rows, at = _missing(corpus, words, plain, right, disguised, technical, tampered)
    blank = np.zeros(plain.codes.size, np.bool_)
    blank[at] = True
    cut = bounds(blank)
    parted = np.flatnonzero(disguised & (cut[words.stop] > cut[words.start]))
    place = spread(words.start[parted], (words.stop - words.start)[parted])
    row = np.repeat(words.row[parted], (words.stop - words.start)[parted])
    change = plain.codes[place] != corpus.codes[place]
    place, row = place[change], row[change]
    return Glued(rows, at, row, place, plain.codes[place])


@cache
def _plain_letters() -> Codes:
    """What each character looks like, if it is a letter beyond ASCII that looks like one of a to z."""
    table, out = look_alikes(), np.arange(0x110000, dtype=np.uint32)
    near = table.near[table.number, 0]
    letter = is_ascii_letter(near) & (out > 127) & np.isin(table.kind, (ORDINARY, LETTER))
    out[letter] = near[letter]
    return out


def _plain(codes: Codes) -> Codes:
    return _plain_letters()[codes]


def _missing(
    corpus: Corpus, words: Spans, plain: Ragged, right: Mask, disguised: Mask, technical: Technical, tampered: Ints
) -> tuple[Ints, Ints]:
    """Rows and places of missing blanks. plain: the texts with plain letters; disguised: words whose letters are not plain."""
    pieces = words.cut(plain)
    many = words.per_row(len(corpus))
    may = splittable(plain, words) & ~technical.inside[words.start]
    which = np.flatnonzero(~right & may)
    none = np.empty(0, np.int64)
    if not which.size:
        return none, none
    texts = pieces.take(which)
    ways = split(texts)
    row = words.row[which]
    cut, helped, capitals = ways.parts > 1, ways.function, inner_capitals(texts)
    hidden = disguised[which]  # nothing is proved by these
    # TheFireRises and JohnSmith42, but not ArchivedfromtheOriginal
    camel = (capitals > 0) & (capitals + has_digits(texts) >= ways.parts - 1)
    # bigjohn42, and words that offend in names: these are split in texts with others only
    chance = _offends(texts, ways) & (ways.bits > SAID * texts.lengths)
    alone = (numbered(texts) & (ways.parts > 2) | chance) & ~helped & ~ways.helped
    affix = (ways.parts == 2) & (np.isin(ways.first, _affixes()) | np.isin(ways.last, _affixes()))
    affix |= (ways.parts == 2) & (texts.lengths < DROPPED) & (ways.last == _number("in"))  # goin
    gain = WHOLE + PER_LETTER * texts.lengths - ways.bits - np.where(affix, AFFIX, 0)
    capital = (word_class(corpus.classes[words.start[which]]) == UPPER) & ~ways.plain
    limit = np.where(camel, np.inf, np.where(ways.parts > 2, LONG, VERY_LONG))
    limit = np.where(ways.helped & ~camel, SEVERAL, limit)
    limit = np.where(helped, CLEAR, limit) + NAMED * (capital & (ways.parts == 2))
    sure = cut & ways.known & (texts.lengths > SHORTEST) & (gain > limit) & ~hidden
    few = np.where(ways.helped & (ways.parts > 3) & (gain > LONG), FEW_LETTERS, LETTERS)
    sure &= (ways.parts == 2) | (texts.lengths >= few * ways.parts)
    once = first_of_each(texts, row)  # a word that comes again proves nothing more
    sure &= ~alone | (np.bincount(row[sure & once & ~alone], minlength=len(corpus)) > 0)[row]
    count = np.bincount(row[sure & once], minlength=len(corpus))
    prose = np.isin(ways.first, lexicon().number(Ragged.of(PROSE.split())))  # ofChief
    coded = (capitals > 0) & one_of(_last_parts(texts), CODED)  # getElementById, RuntimeError
    sure &= prose | ~coded & (~camel | (count > 1)[row])
    calm = technical.rows(many, tampered) & (count <= MORE + technical.spans)
    sure &= ~calm[row]
    some = np.flatnonzero(sure & (texts.lengths <= TYPED))
    sure[some] &= ways.bits[some] + GLUED < misspelt_bits(texts.take(some))
    likely = cut & ways.known & ~hidden & ~camel & ~calm[row] & (sure | ~alone)
    likely &= gain > LIKELY + NAMED * (capital & (ways.parts == 2))
    ours = english(corpus, words, right, row[sure | likely])[row]
    sure &= ours
    seen = np.bincount(row[sure & once], minlength=len(corpus))
    # nor does one alone
    seen += np.maximum(np.bincount(row[likely & ours & once & ~sure], minlength=len(corpus)) - 1, 0)
    prior = np.maximum(bits_of_tampering(OFTEN * seen, many), LEAST)
    odd = np.bincount(row[~sure], minlength=len(corpus)) / np.maximum(many, 1)
    noisy = np.flatnonzero(((odd >= ODD) & (prior > BUSY))[row] & ~sure & ~hidden)
    if noisy.size:  # no word is whole: count those that can be told in spite of that
        noisy = noisy[english(corpus, words, right, row[noisy])[row[noisy]]]
        seen += _told(texts.take(noisy), row[noisy], odd)
        prior = np.maximum(bits_of_tampering(OFTEN * seen, many), LEAST)
    compound = (ways.parts == 2) & ~helped & ((texts.lengths < 11) | has_digits(texts)) | all_capitals(texts)
    partly = np.flatnonzero(cut & ~ways.known & (prior[row] <= BUSY) & (texts.lengths <= TYPED))
    gain[partly] -= np.where(ways.bits[partly] + prior[row[partly]] < misspelt_bits(texts.take(partly)), 0, np.inf)
    done = sure | (cut & (prior[row] <= BUSY) & (gain > prior[row] + COMPOUND * compound))
    noisy = np.flatnonzero(~(done & ways.known) & (prior[row] <= BUSY))
    done[noisy] = False
    found = [_places(words.where(which), ways, done)]
    if noisy.size:
        number = np.append(lexicon().number(pieces), -1)
        beside = _beside(words, which[noisy])
        found.append(
            _misspelt(
                words.where(which[noisy]),
                texts.take(noisy),
                hidden[noisy],
                (number[beside[0]], number[beside[1]]),
                odd,
                seen,
                many,
            )
        )
    again = np.flatnonzero(right & may & (prior <= BUSY)[words.row])
    if again.size:  # a known word may be two, too, in a text with others that are
        found.append(_known(words.where(again), pieces.take(again), prior))
    rows, at = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows, at


def _last_parts(texts: Ragged) -> Ragged:
    """What stands from the last capital of each text on."""
    big = np.flatnonzero((texts.codes >= ord("A")) & (texts.codes <= ord("Z")))
    begin = texts.offsets[:-1].copy()
    np.maximum.at(begin, np.repeat(np.arange(len(texts)), texts.lengths)[big], big)
    size = texts.offsets[1:] - begin
    return Ragged(texts.codes[spread(begin, size)], bounds(size))


def _told(texts: Ragged, row: Ints, odd: Floats) -> Ints:
    """How many words of each text, but one, run together for sure although they have errors."""
    prices, total = _prices(row, odd, np.full(odd.size, BUSY)), np.bincount(row, minlength=odd.size)
    rough = _with_errors(texts, prices).parts > 1
    rough &= word_class(classes(texts.codes[texts.offsets[:-1]])) != UPPER  # names look like anything
    some = np.flatnonzero(rough & (np.bincount(row[rough], minlength=odd.size) >= ROUGHLY)[row])
    if not some.size:
        return np.zeros(odd.size, np.int64)
    texts, row, prices = texts.take(some), row[some], prices.take(some)
    unknown = np.full(row.size, -1)
    errors = Errors.find(texts, prices.error, unknown, unknown, near=True)
    errors = errors.again(split(texts, prices, errors).errors, row)
    ways = split(texts, prices, errors)
    whole = np.minimum(errors.whole(texts.lengths), OPENING + PER_LETTER * texts.lengths)
    told = (ways.parts > 1) & (whole - ways.bits > TOLD)
    count = np.bincount(row[told & first_of_each(texts, row)], minlength=odd.size)
    small = np.bincount(row[told & (ways.function | ways.helped)], minlength=odd.size)  # names of substances have none
    return np.where((small > 0) & (count >= ENOUGH * total), np.maximum(count - 1, 0), 0)


def _with_errors(texts: Ragged, prices: Prices) -> Splits:
    """The best splits into words that may have errors; of those that are cheaper as one word with an error, none."""
    ways = split(texts, prices)
    short = np.flatnonzero((ways.parts > 1) & (texts.lengths <= WIDTHS[0]))
    found = candidates(texts.take(short), 1, near=True)
    bits = np.full(short.size, np.inf)
    np.minimum.at(bits, found.of, lexicon().cost[found.word] - found.channel)
    whole = short[bits + prices.error[short] <= ways.bits[short]]
    parts = ways.parts.copy()
    parts[whole] = 1
    return replace(ways, parts=parts)


def _prices(row: Ints, odd: Floats, prior: Floats) -> Prices:
    """odd: the share of words of each text that have an error."""
    return Prices(ERROR - np.log2(np.maximum(odd, 1e-3))[row], np.maximum(prior - FEWER, 0)[row])


def _misspelt(
    words: Spans, texts: Ragged, hidden: Mask, beside: tuple[Ints, Ints], odd: Floats, seen: Ints, many: Ints
) -> tuple[Ints, Ints]:
    """The same for words with errors, in texts with others that run together: how often, and by which errors, is counted in a
    first turn. beside: numbers of the words before and after. seen: words of each text that run together, many: its words.
    """
    row = words.row
    prices = _prices(row, odd, np.maximum(bits_of_tampering(OFTEN * seen, many), LEAST))
    errors = Errors.find(texts, prices.error, *beside, near=True)
    ways = split(texts, prices, errors)
    errors = errors.further(texts, prices.error, np.flatnonzero(~ways.known))
    for _ in range(TURNS):
        count = seen + np.bincount(row[ways.parts > 1], minlength=many.size)
        prices = _prices(row, odd, np.maximum(bits_of_tampering(OFTEN * count, many), LEAST))
        ways = split(texts, prices, errors.again(ways.errors, row))
    return _places(words, ways, (ways.parts > 1) & (ways.known | ~hidden))


def _beside(words: Spans, which: Ints) -> tuple[Ints, Ints]:
    """The words of the same text before and after some, -1 for none."""
    row = np.append(words.row, -1)
    before, after = which - 1, (which + 1) % row.size
    return np.where(row[before] == row[which], before, -1), np.where(row[after] == row[which], after, -1)


def _known(words: Spans, texts: Ragged, prior: Floats) -> tuple[Ints, Ints]:
    """The same for words that are known, but rare."""
    number = lexicon().number(texts)
    bits = np.where(number < 0, NAME, lexicon().cost[number])
    rare = np.flatnonzero((bits >= RARE) & ~among_joiners(texts))
    words, ways = words.where(rare), split(texts.take(rare))
    done = (ways.parts > 1) & ways.known & (bits[rare] - ways.bits > prior[words.row])
    done &= (number[rare] < 0) | ~_offends(texts.take(rare), ways)
    return _places(words, ways, done)


def _offends(texts: Ragged, ways: Splits) -> Mask:
    """Which splits have a part that offends. Those of names, compounds and known words are found by chance."""
    edges = np.unique(np.append(texts.offsets, texts.offsets[ways.word] + ways.cut))
    parts = Ragged(texts.codes, edges)
    number = lexicon().number(parts)
    bad = edges[:-1][(number >= 0) & offensive()[number]]
    out = np.zeros(len(texts), np.bool_)
    out[np.searchsorted(texts.offsets, bad, "right") - 1] = True
    return out


def _places(words: Spans, ways: Splits, done: Mask) -> tuple[Ints, Ints]:
    chosen = done[ways.word]
    word = ways.word[chosen]
    return words.row[word], words.start[word] + ways.cut[chosen]


@cache
def _affixes() -> Ints:
    return lexicon().number(Ragged.of(AFFIXES.split()))


def _number(word: str) -> int:
    return int(lexicon().number(Ragged.of([word]))[0])


def misspelt_bits(texts: Ragged) -> Floats:
    """The bits of the likeliest word of the lexicon from which each text is one missing, added, wrong or swapped letter away."""
    low = folded(texts)
    bits = np.full(len(low), np.inf)
    for owner, place, keys in one_edit_away(low):
        hit, number = words_at(keys)
        cost = lexicon().cost[number] + TYPO + FIRST * (place[hit] == 0)
        np.minimum.at(bits, owner[hit], cost)
    return bits


def with_clitics(corpus: Corpus) -> Spans:
    """The words, with the apostrophe before those that begin with one: 's and 've by themselves, as in tokenised text."""
    words, codes = corpus.words, corpus.codes
    before = np.append(np.zeros(2, np.uint32), codes)
    quote = among(before[words.start + 1], "'’") & (words.start > corpus.offsets[words.row])
    quote &= is_white(before[words.start]) | (words.start - 1 == corpus.offsets[words.row])
    clitic = one_of(Spans(words.row, words.start, np.minimum(words.stop, words.start + 1)).cut(corpus), "s v r l d m t")
    return Spans(words.row, words.start - (quote & clitic), words.stop)


def first_of_each(texts: Ragged, row: Ints) -> Mask:
    """Which texts come first in their row."""
    out = np.zeros(row.size, np.bool_)
    key = mix(word_bits(folded(texts)) + counters(row))
    out[np.unique(key, return_index=True)[1]] = True
    return out


def all_capitals(texts: Ragged) -> Mask:
    """Which texts have no small letters."""
    return sums(word_class(classes(texts.codes)) == LOWER, texts.offsets) == 0


def has_digits(texts: Ragged) -> Mask:
    """Which texts have a digit."""
    return sums(among(texts.codes, "0123456789"), texts.offsets) > 0


def numbered(texts: Ragged) -> Mask:
    """Which texts end in a digit."""
    return among(texts.codes[texts.offsets[1:] - 1], "0123456789")


def among_joiners(texts: Ragged) -> Mask:
    """Which texts have an apostrophe or a hyphen."""
    return sums(among(texts.codes, "'’-"), texts.offsets) > 0


def splittable(corpus: Ragged, words: Spans) -> Mask:
    """Which words may be split at all: of Latin letters, and no part of an address, a name of a file, a tag or code."""
    codes, length = corpus.codes, words.stop - words.start
    good: Mask = (length >= SHORTEST) & (length <= WIDTHS[-1])
    good &= ~attached(corpus, words, BESIDE)
    letter = is_ascii_letter(codes)
    plain = letter | among(codes, "'’-0123456789")
    strange = bounds(~plain)
    letters = bounds(letter)
    good &= strange[words.stop] == strange[words.start]
    good &= letters[words.stop] - letters[words.start] > 1
    return good


def inner_capitals(texts: Ragged) -> Ints:
    """How many capitals behind small letters texts have."""
    kind = word_class(classes(texts.codes))
    camel = np.append(False, (kind[:-1] == LOWER) & (kind[1:] == UPPER))
    camel[texts.offsets[:-1][texts.lengths > 0]] = False
    return sums(camel, texts.offsets)
