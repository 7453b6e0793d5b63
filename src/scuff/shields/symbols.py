"""Symbols inside words: which were put there to disguise a word, which stand for a letter, and which are punctuation.

A run of characters without white space costs what its words cost in the lexicon (bits: -log2 of a probability) and what symbols
between letters cost in clean text. It is mended where it costs less with one of its symbols taken out, or read as letters, although
tampering costs bits, too: many in a text that shows no tampering, few in one that does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase

import numpy as np

from ..perturbations.protect import UNITS
from ..text.corpus import Corpus
from ..text.ragged import Codes, Floats, Ints, Mask, Ragged, bounds, spread, sums
from ..text.random import text_bits
from ..text.unicode import case_map, classes, is_white, word_class
from ..text.unicode_data import DIGIT, LETTER, LOWER, MARK, UPPER
from ..text.words import WORDY
from .hashes import word_bits
from .lexicon import lexicon

# -log2 of how often a symbol stands between two letters, per word of clean text (train parts of wikitext, agnews, jigsaw): anywhere,
# and between two small letters. Those of typeset text, which these sets hardly have, are taken as their plain twins.
USUAL = {
    "'": (6.1, 6.3), "-": (6.8, 7.2), ".": (8.2, 9.4), ":": (9.3, 13.5), "/": (9.4, 10.0), "!": (10.9, 13.5), "_": (11.0, 11.6),
    "’": (6.1, 6.3), ",": (12.0, 13.5), "(": (13.0, 13.9), "=": (13.1, 14.3), "&": (10.0, 14.1), "?": (13.0, 13.6), "|": (13.6, 14.6),
    "#": (13.6, 18.4), ")": (14.7, 15.2), "—": (8.0, 8.0), "–": (8.0, 8.0), "…": (8.0, 8.0), "@": (14.9, 15.1), "*": (15.0, 15.5),
    "+": (15.0, 15.6), ";": (15.0, 15.6), "´": (8.0, 8.0), "\xad": (8.0, 8.0), "‐": (7.0, 7.0), "‑": (7.0, 7.0), "‘": (8.0, 8.0), "$": (14.0, 15.0),
    "\x91": (8.0, 8.0), "\x92": (8.0, 8.0), "\x93": (8.0, 8.0), "\x94": (8.0, 8.0), "\x96": (8.0, 8.0), "\x97": (8.0, 8.0),
}  # fmt: skip
UNUSUAL = (18.0, 19.0)
JOINERS = "'’-‐‑–—´\xad…\x91\x92\x93\x94\x96\x97"  # one of these goes only where that makes a known word
NUMERIC = "%'’+*=^$€£×"  # may stand between digits
DECIMAL = ".,:/-–"  # stand between digits, whatever the text looks like
RUN = 6.0  # bits of several symbols in a row, as ... or --
TAMPERED = 15.0  # bits of tampering with a word of a text that shows none
SYMBOL, GAP = 4.0, 0.5  # bits of the choice of a symbol, and of each place
UNKNOWN, PER_LETTER = 16.0, 2.5  # bits of a word that is not in the lexicon, and of each of its letters
MIXED = 10.0  # more bits if a digit stands between its letters
ACRONYM, NAME, SINGLE, NUMBER, CLITIC = 14.0, 18.0, 13.0, 9.0, 2.0
STRANGE = 4.0  # more bits where one deletion makes a word that is not known either
HYPHEN = 6.0  # more bits where one joiner goes: people write e-mail and on-line
SURE = 6.0  # bits by which tampering has to win to count as seen
ROUNDS = 4  # different symbols that may go from one run of characters
LONGEST = 120  # characters of such a run
SPELLED = 4  # letters of a word that may be spelled with dots: U.S.A. and e.g. are not
# what may stand for a letter; the first letters are tried together, then the second ones
LEET = {
    "0": "o", "1": "il", "2": "z", "3": "e", "4": "a", "5": "s", "6": "gb", "7": "t", "8": "b", "9": "g",
    "@": "a", "$": "s", "!": "il", "|": "li", "+": "t", "(": "c", "€": "e", "£": "l", "¢": "c", "¥": "y",
}  # fmt: skip
DOLLAR, DOLLARS, DOLLAR_COST = (
    ord("$"),
    2.0,
    19.0,
)  # an outer dollar sign is an s if that saves so many bits and gives no rare word
MASK, MASKED = "*", "aeiou"  # a star may stand for any vowel
ENDINGS = (  # of addresses and file names
    "com org net edu gov mil info html htm php txt pdf jpg jpeg png gif doc docx xls xlsx csv zip exe js css cpp java json xml svg yaml "
    "toml md py sh dll asp aspx jsp mp3 mp4 avi ogg wav tar gz uk"
).split()
BEGINNINGS = "www http https ftp file".split()
CLITICS = "s d ll re ve".split()  # behind any word; others, as those of don't and I'm, are in the lexicon
USED = "s/he w/o n/a c/o b/c w/in h/w s/w y/o m/f o.k e.g i.e p.s a.m p.m".split()
LIMIT = 0x3000  # symbols from here on, as those of Chinese, stay


@dataclass(frozen=True, eq=False)
class Cores:
    """Runs of characters without white space, from their first letter or digit to their last, and where they begin."""

    texts: Ragged
    row: Ints
    start: Ints
    led: Codes  # the characters before and behind each, 0 if there are none
    followed: Codes


def is_wordy(codes: Codes) -> Mask:
    """Letters, digits and marks."""
    return _wordy()[word_class(classes(codes))]


@cache
def _wordy() -> Mask:
    table = WORDY.copy()
    table[MARK] = True
    return table


def find_cores(corpus: Corpus) -> Cores:
    """All runs with a symbol between letters or digits, or with letters beside digits."""
    codes, offsets = corpus.codes, corpus.offsets
    kind = word_class(corpus.classes)
    inside, white = _wordy()[kind], is_white(codes)
    if codes.size < 2:
        none = np.empty(0, np.int64)
        return Cores(Ragged.blank(0), none, none, np.empty(0, np.uint32), np.empty(0, np.uint32))
    digit = kind == DIGIT
    letter = inside & ~digit
    hit = np.zeros(codes.size, np.bool_)
    hit[:-1] = (letter[:-1] & digit[1:]) | (digit[:-1] & letter[1:])
    hit[1:] |= (
        inside[:-1] & ~inside[1:] & ~white[1:]
    )  # a symbol behind a letter, which is inside if a letter follows in the run
    at = np.flatnonzero(hit)
    edge = np.flatnonzero(white)
    row = np.searchsorted(offsets, at, "right") - 1
    near = np.searchsorted(edge, at)
    begin = np.maximum(np.append(0, edge + 1)[near], offsets[row])
    end = np.minimum(np.append(edge, codes.size)[near], offsets[row + 1])
    first = np.flatnonzero(np.diff(begin, prepend=-1) > 0)
    begin, end, row = begin[first], end[first], row[first]
    words = np.flatnonzero(inside)
    start = np.append(words, codes.size)[np.searchsorted(words, begin)]
    stop = np.append(0, words + 1)[np.searchsorted(words, end)]
    solid = bounds(~inside)
    changes = bounds(hit)  # a symbol behind the last letter does not count
    length = stop - start
    good = (length > 2) & (length <= LONGEST)
    start, stop = np.where(good, start, 0), np.where(good, stop, 0)
    good &= (solid[stop] > solid[start]) | (changes[stop] > changes[start])
    row, start, length, begin, end, stop = (x[good] for x in (row, start, length, begin, end, stop))
    led = np.where(start > begin, codes[start - 1], 0).astype(np.uint32)
    followed = np.where(end > stop, np.append(codes, 0)[stop], 0).astype(np.uint32)
    return Cores(Ragged(codes[spread(start, length)], bounds(length)), row, start, led, followed)


@cache
def _usual() -> Floats:
    """Bits of symbols: [anywhere or between small letters, code point]."""
    out = np.empty((2, LIMIT + 1))
    for at in (0, 1):
        out[at] = UNUSUAL[at]
        for symbol, bits in USUAL.items():
            out[at, ord(symbol)] = bits[at]
        out[at, LIMIT] = 4.0
    return out


@cache
def _members(symbols: str) -> Mask:
    out = np.zeros(LIMIT + 1, np.bool_)
    out[[ord(symbol) for symbol in symbols]] = True
    return out


def among(codes: Codes, symbols: str) -> Mask:
    """Which code points are among some."""
    return _members(symbols)[np.minimum(codes, LIMIT)]


@cache
def _hashes(words: tuple[str, ...]) -> Ints:
    return np.sort(text_bits(Ragged.of(words)))


def one_of(texts: Ragged, words: list[str]) -> Mask:
    """Which texts are, in lower case, among some words."""
    low = Ragged(case_map(False)[texts.codes], texts.offsets)
    return np.isin(word_bits(low), _hashes(tuple(words)))


@dataclass(frozen=True, eq=False)
class Cost:
    """What strings cost in bits, and what their words are like."""

    bits: Floats
    known: Mask  # no word of it is unknown
    single: Mask  # every word of it is one character
    upper: Mask  # its letters are capitals
    words: Ints


def piece_bits(pieces: Ragged) -> tuple[Floats, Mask]:
    """The bits of words, and which are known."""
    number = lexicon().number(pieces)
    kind = word_class(classes(pieces.codes))
    length = pieces.lengths
    capitals = sums(kind == UPPER, pieces.offsets)
    digits = sums(kind == DIGIT, pieces.offsets)
    bits = UNKNOWN + PER_LETTER * length
    bits += np.where((digits > 0) & (digits < length), MIXED, 0)
    known = number >= 0
    other = np.flatnonzero(~known)
    named = other[lexicon().known(pieces.take(other))]
    known[named] = True
    bits[named] = np.minimum(bits[named], NAME)
    listed = number >= 0
    bits[listed] = lexicon().cost[number[listed]]
    loud = (capitals == length) & (length > 1) & (length < 6)
    bits[loud] = np.minimum(bits[loud], ACRONYM)
    alone = length == 1
    article = alone & one_of(pieces, ["a", "i"])
    bits[alone & ~article] = SINGLE
    number_like = digits == length
    bits[number_like] = NUMBER
    known |= number_like | (loud & (length < 5))
    return bits, known


def cost(strings: Ragged) -> Cost:
    """What strings, each of which begins and ends with a letter or digit, cost as clean text."""
    codes, offsets = strings.codes, strings.offsets
    kind = word_class(classes(codes))
    inside = _wordy()[kind]
    first = np.zeros(codes.size, np.bool_)
    first[offsets[:-1]] = True
    before = np.append(False, inside[:-1])
    opens = inside & (first | ~before)
    shuts = inside & np.append(first[1:] | ~inside[1:], True)[: codes.size]
    start, stop = np.flatnonzero(opens), np.flatnonzero(shuts) + 1
    pieces = Ragged(codes[spread(start, stop - start)], bounds(stop - start))
    bits, known = piece_bits(pieces)
    edges = np.searchsorted(start, offsets)
    # the runs of symbols between pieces
    gap = np.flatnonzero(np.append(~first[start[1:]], False)[: start.size])  # pieces with another one behind
    left, right = stop[gap] - 1, start[gap + 1]
    size = right - left - 1
    symbol = np.minimum(codes[left + 1], LIMIT)
    small = (kind[left] == LOWER) & (kind[right] == LOWER)
    here = _usual()[small.astype(np.int64), symbol]
    here = np.where((symbol == ord(".")) & (kind[left] != UPPER) & (kind[right] == UPPER), 4.0, here)
    digits = (kind[left] == DIGIT) | (kind[right] == DIGIT)
    here = np.where(digits, np.where(among(symbol, NUMERIC + DECIMAL), 2.0, here), here)
    here = np.where(size > 1, RUN + 2 * np.minimum(size - 2, 4), here)
    clitic = among(symbol, "'’") & (size == 1) & one_of(pieces.take(gap + 1), CLITICS)
    clitic &= np.isin(gap + 2, edges) & (pieces.lengths[gap] > 1)
    here = np.where(clitic, 4.0, here)
    bits[gap[clitic] + 1] = CLITIC
    known[gap[clitic] + 1] = True
    bits[gap] += here
    total = sums_of(bits, edges)
    whole = lexicon().number(strings)
    many = np.diff(edges) > 1
    listed = many & (whole >= 0)
    total[listed] = lexicon().cost[whole[listed]]
    good = sums(~known, edges) == 0
    letters = sums((kind == LOWER) | (kind == LETTER), offsets) == 0
    single = sums(stop - start > 1, edges) == 0
    return Cost(total, good | listed, single, letters, np.diff(edges))


def sums_of(values: Floats, edges: Ints) -> Floats:
    """The sum of each run of values, rounded so that it does not depend on the runs before it."""
    return sums(np.rint(values * 1024).astype(np.int64), edges) / 1024


# ---- what may be done with each run, and which of it is cheapest ----

DELETE, LEET_READ, MASK_READ = range(3)


@dataclass(frozen=True, eq=False)
class Variants:
    """Other readings of cores: the core of each, what it does, with which symbol, and the characters that stay or change."""

    core: Ints
    what: Ints
    symbol: Codes
    texts: Ragged
    source: Ints  # of each character, its place in the codes of the cores

    @staticmethod
    def join(parts: list[Variants]) -> Variants:
        return Variants(
            np.concatenate([part.core for part in parts]),
            np.concatenate([part.what for part in parts]),
            np.concatenate([part.symbol for part in parts]),
            Ragged.join([part.texts for part in parts]),
            np.concatenate([part.source for part in parts]),
        )


def deletions(texts: Ragged) -> Variants:
    """Each text without one of its symbols, wherever it stands in it."""
    codes, number = texts.codes, np.repeat(np.arange(len(texts)), texts.lengths)
    at = np.flatnonzero(~is_wordy(codes) & (codes < LIMIT))
    pair = np.unique(number[at] << 21 | codes[at].astype(np.int64))
    core, symbol = pair >> 21, (pair & (1 << 21) - 1).astype(np.uint32)
    length = texts.lengths[core]
    source = spread(texts.offsets[core], length)
    stays = codes[source] != np.repeat(symbol, length)
    size = sums(stays, bounds(length))
    source = source[stays]
    return Variants(core, np.full(core.size, DELETE), symbol, Ragged(codes[source], bounds(size)), source)


@cache
def _leet(turn: int) -> Codes:
    table = np.arange(LIMIT + 1, dtype=np.uint32)
    for symbol, letters in LEET.items():
        table[ord(symbol)] = ord(letters[min(turn, len(letters) - 1)])
    return table


def readings(texts: Ragged) -> Variants:
    """Texts with digits and symbols read as letters: all of them that can be, or the one star as a vowel."""
    codes = texts.codes
    kind = word_class(classes(codes))
    letters = sums((kind == LOWER) | (kind == UPPER), texts.offsets)
    leet = sums(among(codes, "".join(LEET)), texts.offsets)
    symbols = sums(~_wordy()[kind] & ~among(codes, "'’-"), texts.offsets)
    open_to = np.flatnonzero((leet > 0) & (letters >= 2) & (leet <= letters))
    second = open_to[sums(among(codes, "1!|6"), texts.offsets)[open_to] > 0]
    stars = sums(codes == ord(MASK), texts.offsets)
    masked = np.flatnonzero((stars == 1) & (symbols == 1) & (letters >= 3))
    core = np.concatenate([open_to, second, np.repeat(masked, len(MASKED))])
    turn = np.repeat([0, 1], [open_to.size, second.size])
    length = texts.lengths[core]
    source = spread(texts.offsets[core], length)
    new = codes[source]
    cut = int(length[: turn.size].sum())
    short = np.minimum(new[:cut], LIMIT)
    read = np.where(np.repeat(turn, length[: turn.size]) > 0, _leet(1)[short], _leet(0)[short])
    new[:cut] = np.where(new[:cut] < LIMIT, read, new[:cut])
    star = np.flatnonzero(new[cut:] == ord(MASK)) + cut
    new[star] = np.resize(np.array([ord(vowel) for vowel in MASKED], np.uint32), star.size)
    what = np.repeat([LEET_READ, MASK_READ], [turn.size, core.size - turn.size])
    loud = sums(kind == LOWER, texts.offsets)[core] == 0
    changed = new != codes[source]
    capital = changed & np.repeat(loud, length)
    new[capital] = case_map(True)[new[capital]]
    return Variants(core, what, np.zeros(core.size, np.uint32), Ragged(new, bounds(length)), source)


def forbidden(texts: Ragged, cores: Cores, found: Variants, old: Cost, new: Cost) -> tuple[Mask, Mask]:
    """Which variants may not be chosen, whatever they cost: never, and in texts that do not look tampered with."""
    core, symbol = found.core, found.symbol
    delete = found.what == DELETE
    once = texts.lengths[core] - found.texts.lengths == 1
    upper, single, words = old.upper[core], old.single[core], old.words[core]
    never = (addresses(texts) | among(cores.led, "@#") | one_of(texts, USED))[core]
    # spelled with dots: U.S.A, e.g, a.k.a stay
    short = (words < SPELLED) | ((cores.followed[core] == ord(".")) & ~new.known)
    spelled = single & (symbol == ord(".")) & (short | (upper & (~new.known | (words <= SPELLED))))
    few = upper & (words <= SPELLED)
    spelled |= few & ((single & among(symbol, "./&")) | (symbol == ord("&")))
    never |= delete & (spelled | paired(texts, cores, symbol, core) | in_numbers(texts, found, DECIMAL))
    never |= ~delete & ((lexicon().number(found.texts) < 0) | code_like(texts)[core] | (new.words > 1))
    soft, joiner = softly(symbol), among(symbol, JOINERS)
    spelt = (words >= SPELLED) & (2 * texts.lengths[core] <= 5 * words)  # nearly letter by letter
    calm = few & single
    calm |= upper & soft & (once | ~new.known)  # IBM.N
    calm |= once & joiner & (old.known[core] | before_capital(texts, symbol, core))  # tight-lipped, Wi-Fi
    calm |= (symbol == ord(".")) & initials(texts)[core]  # U.S.-born
    calm |= soft & ~new.known & (~spelt | joiner)
    calm |= in_numbers(texts, found, NUMERIC)
    return never, delete & calm


CALM = 8.0  # bits of tampering above which a text does not look tampered with


def softly(symbol: Codes) -> Mask:
    """Which symbols may stand between letters in clean text."""
    return _usual()[0][np.minimum(symbol, LIMIT)] < UNUSUAL[0]


def before_capital(texts: Ragged, symbol: Codes, core: Ints) -> Mask:
    """Whether these symbols stand before a capital anywhere in these cores."""
    kind = np.append(word_class(classes(texts.codes)), 0)
    number = np.repeat(np.arange(len(texts)), texts.lengths)
    at = np.flatnonzero(kind[1:] == UPPER)
    pair = np.unique(number[at] << 21 | texts.codes[at].astype(np.int64))
    return np.isin(core << 21 | symbol.astype(np.int64), pair)


def initials(texts: Ragged) -> Mask:
    """Which texts have two capitals with a dot between them."""
    kind = np.pad(word_class(classes(texts.codes)), 1)
    dotted = (texts.codes == ord(".")) & (kind[:-2] == UPPER) & (kind[2:] == UPPER)
    return sums(dotted, texts.offsets) > 0


def paired(texts: Ragged, cores: Cores, symbol: Codes, core: Ints) -> Mask:
    """Which symbols are brackets whose partners stand in or beside their cores: word(s), (re)do."""
    out = np.zeros(core.size, np.bool_)
    for one, other in zip("()[]{}<>", ")(][}{><", strict=True):
        have = sums(texts.codes == ord(other), texts.offsets) > 0
        have |= (cores.led == ord(other)) | (cores.followed == ord(other))
        out |= (symbol == ord(one)) & have[core]
    return out


def addresses(texts: Ragged) -> Mask:
    """Which texts are web or mail addresses, or names of files."""
    codes, number = texts.codes, np.repeat(np.arange(len(texts)), texts.lengths)
    inside = is_wordy(codes)
    solid = np.flatnonzero(~inside)
    last = np.full(len(texts), -1)
    last[number[solid]] = solid
    first = np.full(len(texts), -1)
    first[number[solid[::-1]]] = solid[::-1]
    has = last >= 0
    begin = np.where(has, last + 1, texts.offsets[:-1])
    tail = Ragged(codes[spread(begin, texts.offsets[1:] - begin)], bounds(texts.offsets[1:] - begin))
    end = np.where(has, first, texts.offsets[1:])
    head = Ragged(codes[spread(texts.offsets[:-1], end - texts.offsets[:-1])], bounds(end - texts.offsets[:-1]))
    dotted = has & (codes[np.maximum(last, 0)] == ord("."))
    out = dotted & one_of(tail, ENDINGS)
    out |= has & one_of(head, BEGINNINGS) & among(codes[np.maximum(first, 0)], ".:")
    scheme = (codes == ord(":")) & (np.append(codes[1:], 0) == ord("/"))
    out |= sums(scheme, texts.offsets) > 0
    at = codes == ord("@")
    dot = codes == ord(".")
    mail = (sums(at, texts.offsets) == 1) & (sums(dot, texts.offsets) > 0)
    where = np.zeros(len(texts), np.int64)
    where[number[at]] = np.flatnonzero(at)
    after = np.full(len(texts), -1)
    after[number[dot]] = np.flatnonzero(dot)
    return out | (mail & (after > where + 2))


def in_numbers(texts: Ragged, found: Variants, symbols: str) -> Mask:
    """Which variants take one of these symbols out from between two digits."""
    digit = np.pad(word_class(classes(texts.codes)) == DIGIT, 1)
    both = digit[:-2] & digit[2:] & among(texts.codes, symbols)
    return (sums(both, texts.offsets) > 0)[found.core] & among(found.symbol, symbols)


def code_like(texts: Ragged) -> Mask:
    """Which texts with digits are numbers with units, codes, versions or numbered words: 10k, 4th, MP3, B2B, lab5."""
    codes, number = texts.codes, np.repeat(np.arange(len(texts)), texts.lengths)
    kind = word_class(classes(codes))
    digit = kind == DIGIT
    letter = (kind == LOWER) | (kind == UPPER) | (kind == LETTER)
    capitals = sums(kind == LOWER, texts.offsets) == 0
    count = sums(digit, texts.offsets)
    letters = sums(letter, texts.offsets)
    place = np.arange(codes.size) - np.repeat(texts.offsets[:-1], texts.lengths)
    # how many digits stand at the beginning and at the end
    lead = np.full(len(texts), 1 << 30)
    solid = np.flatnonzero(~digit)[::-1]
    lead[number[solid]] = place[solid]
    last = np.full(len(texts), -1)
    last[number[solid[::-1]]] = place[solid[::-1]]
    trail = texts.lengths - 1 - last
    begin = texts.offsets[:-1] + np.minimum(lead, texts.lengths)
    rest = texts.offsets[1:] - begin
    tail = Ragged(codes[spread(begin, rest)], bounds(rest))
    head_length = np.maximum(texts.lengths - trail, 0)
    head = Ragged(codes[spread(texts.offsets[:-1], head_length)], bounds(head_length))
    out = (lead > 0) & (lead < texts.lengths) & (one_of(tail, _units()) | (rest <= 2))
    out |= (trail > 0) & (head_length >= 2) & (lexicon().number(head) >= 0)
    out |= (count > 0) & capitals & ((trail == count) | (lead == count) | (texts.lengths < 5))
    out |= (count > 2) & ((trail > 2) | (lead > 2))
    out |= letters < 2
    return out


@cache
def _units() -> list[str]:
    return UNITS.split("|")


@dataclass(frozen=True, eq=False)
class Changes:
    """Characters that go (new: 0) or become others, and how many words of each text were tampered with for sure."""

    row: Ints
    at: Ints
    new: Codes
    read: Mask  # a symbol or digit that stands for a letter
    sure: Ints


def find_symbols(corpus: Corpus) -> Changes:
    """Finds symbols that disguise words, in all texts."""
    cores = find_cores(corpus)
    texts, row = cores.texts, cores.row
    place = spread(cores.start, texts.lengths)
    words = sums(is_white(corpus.codes), corpus.offsets) + 1
    sure = np.zeros(len(corpus), np.int64)
    prior = np.full(len(texts), TAMPERED)
    done: list[tuple[Ints, Ints, Codes, Mask]] = []
    for turn in range(ROUNDS):
        if not len(texts):
            break
        found = Variants.join([deletions(texts), readings(texts)])
        offers = Offers.of(texts, cores, found)
        if not turn:
            chosen, gain = offers.best(prior)
            sure = np.bincount(row[found.core[chosen[gain > SURE]]], minlength=len(corpus))
            prior = bits_of_tampering(sure, words)[row]
        chosen, gain = offers.best(prior)
        chosen = chosen[gain > 0]
        core = found.core[chosen]
        after = found.texts.take(chosen)
        source = found.source[spread(found.texts.offsets[chosen], after.lengths)]
        gone = np.repeat(_mask(core, len(texts)), texts.lengths)
        gone[source] = False
        at = np.flatnonzero(gone)
        changed = np.flatnonzero(after.codes != texts.codes[source])
        rows = np.repeat(row, texts.lengths)
        done.append((rows[at], place[at], np.zeros(at.size, np.uint32), np.zeros(at.size, np.bool_)))
        at = source[changed]
        done.append((rows[at], place[at], after.codes[changed], np.ones(at.size, np.bool_)))
        more = found.what[chosen] == DELETE
        again = core[more]
        place = place[source[np.repeat(more, after.lengths)]]
        texts, row, prior = after.take(np.flatnonzero(more)), row[again], prior[again]
        cores = Cores(texts, row, cores.start[again], cores.led[again], cores.followed[again])
    done.append(find_dollars(corpus))
    rows, at, codes, read = (np.concatenate(part) for part in zip(*done, strict=True))
    order = np.argsort(at)
    return Changes(rows[order], at[order], codes[order], read[order], sure)


def find_dollars(corpus: Corpus) -> tuple[Ints, Ints, Codes, Mask]:
    """Finds dollar signs that are the first or last letters of words: $tupid, cla$$."""
    codes, kind = corpus.codes, word_class(corpus.classes)
    dollar = codes == DOLLAR
    row = np.searchsorted(corpus.offsets, np.flatnonzero(dollar), "right") - 1
    inside = (kind == LOWER) | (kind == UPPER) | dollar
    border = np.zeros(codes.size + 1, np.bool_)
    border[corpus.offsets] = True
    opens = np.flatnonzero(inside & (border[:-1] | ~np.append(False, inside[:-1])))
    shuts = np.flatnonzero(inside & (border[1:] | ~np.append(inside[1:], False)[: codes.size])) + 1
    which = np.unique(np.searchsorted(opens, np.flatnonzero(dollar), "right") - 1)
    start, stop = opens[which], shuts[which]
    row = np.searchsorted(corpus.offsets, start, "right") - 1
    wordy = np.append(_wordy()[kind], False)
    outside = ~(wordy[stop] & ~border[stop]) & ~(np.append(False, wordy)[start] & ~border[start])
    small = bounds(kind == LOWER)
    outside &= small[stop] - small[start] >= 2  # US$ and A$ are money
    outside &= dollar[start] ^ dollar[stop - 1]
    row, start, stop = row[outside], start[outside], stop[outside]
    length = stop - start
    text = codes[spread(start, length)]
    bare = text[text != DOLLAR]
    rest = Ragged(bare, bounds(sums(text != DOLLAR, bounds(length))))
    whole = Ragged(np.where(text == DOLLAR, np.uint32(ord("s")), text), bounds(length))
    number, other = lexicon().number(whole), lexicon().number(rest)
    better = np.where(other >= 0, lexicon().cost[other], np.inf) > lexicon().cost[number] + DOLLARS
    good = (number >= 0) & better & (lexicon().cost[number] < DOLLAR_COST) & (length > 2)
    at = spread(start[good], length[good])
    rows = np.repeat(row[good], length[good])
    sign = codes[at] == DOLLAR
    at, rows = at[sign], rows[sign]
    return rows, at, np.full(at.size, ord("s"), np.uint32), np.ones(at.size, np.bool_)


def _mask(index: Ints, size: int) -> Mask:
    out = np.zeros(size, np.bool_)
    out[index] = True
    return out


def bits_of_tampering(sure: Ints, words: Ints) -> Floats:
    """The bits that tampering with a word costs in texts of so many words, of which some were tampered with for sure.

    The rate is estimated as if a few words that were not had been seen before: 15 bits of none, about 4 of four in twenty.
    """
    rate = (sure + PSEUDO) / (words + PSEUDO * 2.0**TAMPERED)
    return np.minimum(TAMPERED, -np.log2(rate))


PSEUDO = 0.001


@dataclass(frozen=True, eq=False)
class Offers:
    """What variants of cores save, in bits, before tampering is paid for, and which may not be chosen."""

    core: Ints
    save: Floats
    calm: Mask  # not where the text does not look tampered with

    @classmethod
    def of(cls, texts: Ragged, cores: Cores, found: Variants) -> Offers:
        core, delete = found.core, found.what == DELETE
        old, new = cost(texts), cost(found.texts)
        many = texts.lengths[core] - found.texts.lengths
        once = delete & (many == 1)
        bits = SYMBOL + GAP * np.maximum(many, 1)
        bits = bits + np.where(once & softly(found.symbol) & ~new.known, STRANGE, 0)
        bits = bits + np.where(once & among(found.symbol, JOINERS), HYPHEN * (1 + old.known[core]), 0)
        never, calm = forbidden(texts, cores, found, old, new)
        return cls(core, np.where(never, -np.inf, old.bits[core] - new.bits - bits), calm)

    def best(self, prior: Floats) -> tuple[Ints, Floats]:
        """The best variant of each core that has any, and how many bits it saves. prior: those of tampering with each core."""
        paid = prior[self.core]
        gain = np.where(self.calm & (paid > CALM), -np.inf, self.save - paid)
        order = np.lexsort((np.arange(gain.size), -gain, self.core))
        first = order[np.flatnonzero(np.diff(self.core[order], prepend=-1))]
        return first, gain[first]
